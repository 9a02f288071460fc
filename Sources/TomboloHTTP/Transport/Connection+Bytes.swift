import Glibc
import TomboloLoop

/// Reading and writing. A call to the owner may end the connection, so check the phase after it.
extension Connection {
    // MARK: In

    func readInput() {
        var count = 0
        while wantsInput {
            guard count < Self.inputPerTurnMax else {
                // Go on at the end of the turn. OpenSSL may hold a rest that epoll does not report.
                mustReadAtEndOfTurn = true
                return callAtEndOfTurn()
            }
            switch readOnce() {
            case .done(let received):
                count += received
                handleReceived(received)
                // The loop reports bytes that come later. Another read would be a useless call.
                if !mayHoldMore(after: received) { return }
            case .wantsRead: return
            case .wantsWrite:
                // Only the answer to a TLS key update must be written, with the next write.
                return
            case .ended:
                hasInputEnded = true
                if phase == .lingering { return end(nil) }
                updateInterest()
                owner?.inputEnded()
            case .failed(let reason):
                if phase == .lingering { return end(nil) }
                fail(ConnectionError(tls == nil ? .reset : .tls, "\(peer): \(reason)"))
            }
        }
    }

    private func mayHoldMore(after received: Int) -> Bool {
        tls == nil ? received == buffers.input.count : tls?.hasPending ?? false
    }

    private func handleReceived(_ count: Int) {
        guard phase == .lingering else {
            owner?.received(UnsafeRawBufferPointer(rebasing: buffers.input[..<count]))
            return
        }
        lingeredBytes += count
        if lingeredBytes > Self.lingerBytesMax { end(nil) }
    }

    private func readOnce() -> TLSStep {
        if tls != nil {
            return tls?.read(into: buffers.input) ?? .ended
        }
        let count = recv(descriptor, buffers.input.baseAddress, buffers.input.count, 0)
        if count > 0 { return .done(count) }
        if count == 0 { return .ended }
        return errno == EAGAIN || errno == EINTR ? .wantsRead : .failed(systemErrorText(errno))
    }

    // MARK: Out

    /// Writes output. While the owner may have more bytes, only full records are written; when it
    /// has no more, the last partial record is written too.
    func writeOutput() {
        var written = 0
        while phase == .open || phase == .closing {
            guard owner?.mayWrite != false else { return holdBack() }
            let buffer = output ?? buffers.takeOutput()
            output = buffer
            let mayHaveMore = fill(buffer)
            guard phase != .closed else { return }
            guard !buffer.isEmpty else { return finishWriting(buffer) }
            while !buffer.isEmpty, !mayHaveMore || buffer.isFull {
                guard writeRecord(buffer, &written) else { return }
            }
            guard written < Self.outputPerTurnMax else { return callAtEndOfTurn() }
        }
    }

    /// The owner forbids to write. It calls `wantsOutput` later, so do not wait for the kernel: it
    /// would report again and again that the socket is writable.
    private func holdBack() {
        guard waitsForWritable else { return }
        waitsForWritable = false
        updateInterest()
    }

    /// Asks the owner for output. Returns true if it may have more than the buffer holds now.
    private func fill(_ buffer: OutputBuffer) -> Bool {
        guard needsFill else { return false }
        guard !buffer.isFull else { return true }
        needsFill = false
        owner?.fillOutput(buffer)
        if buffer.isFull { needsFill = true }
        return needsFill
    }

    /// Writes one record. Returns false if the peer takes no more for now or the connection ended.
    private func writeRecord(_ buffer: OutputBuffer, _ written: inout Int) -> Bool {
        switch writeOnce(buffer.record) {
        case .done(let count):
            buffer.consume(count)
            sentCount += UInt64(count)
            written += count
            return true
        case .wantsWrite, .wantsRead:
            waitsForWritable = true
            updateInterest()
        case .ended:
            fail(ConnectionError(.reset, "\(peer) ended the connection"))
        case .failed(let reason):
            fail(ConnectionError(.reset, "\(peer) cut the connection: \(reason)"))
        }
        return false
    }

    private func writeOnce(_ bytes: UnsafeRawBufferPointer) -> TLSStep {
        if tls != nil { return tls?.write(bytes) ?? .ended }
        let count = send(descriptor, bytes.baseAddress, bytes.count, 0)
        if count >= 0 { return .done(count) }
        return errno == EAGAIN || errno == EINTR ? .wantsWrite : .failed(systemErrorText(errno))
    }

    /// Answers a client that speaks clear text to a TLS port, and drops its bytes: closing a socket
    /// with unread bytes would destroy the answer.
    func answerInClearText() {
        let answer = clearTextAnswer
        // Nothing was sent on this socket before, so the kernel takes all bytes.
        _ = send(descriptor, answer, answer.count, 0)
        tls = nil
        shutdown(descriptor, Int32(SHUT_WR))
        phase = .lingering
        setTimer(Self.closeTimeout)
        updateInterest()
        readInput()
    }

    private func finishWriting(_ buffer: OutputBuffer) {
        output = nil
        buffers.giveBack(buffer)
        if waitsForWritable {
            waitsForWritable = false
            updateInterest()
        }
        guard phase == .closing else { return }
        tls?.sendCloseNotify()
        shutdown(descriptor, Int32(SHUT_WR))
        guard !hasInputEnded else { return end(nil) }
        phase = .lingering
        updateInterest()
        // Bytes inside OpenSSL are dropped. From now on only the end of the socket's input matters.
        readInput()
    }
}
