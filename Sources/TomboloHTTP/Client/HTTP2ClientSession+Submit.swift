import CNghttp2
import Glibc

/// The way of a request into nghttp2. No closure, dictionary or string of its own for a request:
/// names and values are copied once, from where they are, by nghttp2.
extension HTTP2ClientSession {
    /// Answers the stream's id. Refused where there is no room, or where HTTP/2 cannot carry it.
    func submit(
        _ request: borrowing HTTP2Request, deadline: Int64, receiver: (any HTTP2AnswerReceiver)?,
        tag: UInt64, stream: HTTP2ResponseStream? = nil
    ) -> Result<Int32, HTTP2Failure> {
        guard capacity > 0 else { return .failure(goAway.map { .goneAway($0) } ?? .noCapacity) }
        if let part = unsendablePart(request) { return .failure(.unsendable(part)) }
        let slot = slab.take()
        slot.pointee.tag = tag
        slot.pointee.receiver = receiver
        slot.pointee.stream = stream
        slot.pointee.deadline = deadline
        slot.pointee.requestBody = request.body
        let hasBody = !request.body.isEmpty || stream?.hasMoreUpload == true
        slot.pointee.hasRequestEnded = !hasBody
        let id = submitToSession(request, slot, hasBody: hasBody)
        guard id > 0 else {
            slab.giveBack(slot)
            // The ids of one connection are used up after 2^30 requests; nothing else is left here.
            drain()
            return .failure(.noCapacity)
        }
        slot.pointee.streamID = id
        return .success(id)
    }

    private func submitToSession(
        _ request: borrowing HTTP2Request, _ slot: StreamSlab.Slot, hasBody: Bool
    ) -> Int32 {
        pseudoBytes.removeAll(keepingCapacity: true)
        pseudoBytes.append(contentsOf: request.method.utf8)
        let schemeStart = pseudoBytes.count
        pseudoBytes.append(contentsOf: request.scheme.utf8)
        let authorityStart = pseudoBytes.count
        pseudoBytes.append(contentsOf: request.authority.utf8)
        let pathStart = pseudoBytes.count
        pseudoBytes.append(contentsOf: request.path.utf8)
        return pseudoBytes.withUnsafeBytes { pseudo in
            names[0] = pseudoField(":method", pseudo[..<schemeStart])
            names[1] = pseudoField(":scheme", pseudo[schemeStart..<authorityStart])
            names[2] = pseudoField(":authority", pseudo[authorityStart..<pathStart])
            names[3] = pseudoField(":path", pseudo[pathStart...])
            return request.fields.withUnsafeFields { fields in
                var count = 4
                for field in fields {
                    names[count] = Self.nameValue(field)
                    count += 1
                }
                guard hasBody else {
                    return nghttp2_submit_request(session, nil, names, count, nil, slot)
                }
                var provider = nghttp2_data_provider(
                    source: nghttp2_data_source(ptr: slot), read_callback: Self.readBody)
                return nghttp2_submit_request(session, nil, names, count, &provider, slot)
            }
        }
    }

    private func pseudoField(
        _ name: StaticString, _ value: Slice<UnsafeRawBufferPointer>
    ) -> nghttp2_nv {
        let bytes = UnsafeRawBufferPointer(rebasing: value)
        return nghttp2_nv(
            name: UnsafeMutablePointer(mutating: name.utf8Start),
            value: UnsafeMutablePointer(
                mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)),
            namelen: name.utf8CodeUnitCount, valuelen: bytes.count,
            flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue))
    }

    private static func nameValue(_ field: HTTPFields.UnsafeFields.Field) -> nghttp2_nv {
        nghttp2_nv(
            name: UnsafeMutablePointer(
                mutating: field.name.baseAddress?.assumingMemoryBound(to: UInt8.self)),
            value: UnsafeMutablePointer(
                mutating: field.value.baseAddress?.assumingMemoryBound(to: UInt8.self)),
            namelen: field.name.count, valuelen: field.value.count,
            flags: field.indexing == .neverIndexed
                ? UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) : UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
    }

    private static let readBody:
        @convention(c) (
            OpaquePointer?, Int32, UnsafeMutablePointer<UInt8>?, Int,
            UnsafeMutablePointer<UInt32>?, UnsafeMutablePointer<nghttp2_data_source>?,
            UnsafeMutableRawPointer?
        ) -> Int = { _, _, buffer, capacity, flags, source, _ in
            guard let buffer, let flags,
                let slot = source?.pointee.ptr?.assumingMemoryBound(to: StreamSlot.self)
            else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
            slot.pointee.stream?.moveUpload(
                to: &slot.pointee.requestBody, &slot.pointee.requestOffset)
            let offset = slot.pointee.requestOffset
            let count = min(capacity, slot.pointee.requestBody.count - offset)
            slot.pointee.requestBody.withUnsafeBytes { body in
                if count > 0, let base = body.baseAddress { memcpy(buffer, base + offset, count) }
            }
            slot.pointee.requestOffset += count
            let isAtEnd = slot.pointee.requestOffset == slot.pointee.requestBody.count
            if isAtEnd, slot.pointee.stream?.hasMoreUpload != true {
                slot.pointee.hasRequestEnded = true
                flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
            } else if count == 0 {
                return Int(NGHTTP2_ERR_DEFERRED.rawValue)
            }
            return count
        }

    // MARK: What cannot be sent

    /// The part of the request that would make it another request, or none, at the peer.
    private func unsendablePart(_ request: borrowing HTTP2Request) -> String? {
        guard !request.method.isEmpty, Self.isPlain(request.method) else { return "method" }
        guard !request.scheme.isEmpty, Self.isPlain(request.scheme) else { return "scheme" }
        guard Self.isPlain(request.authority) else { return "authority" }
        guard request.path.utf8.first == UInt8(ascii: "/") || request.path == "*",
            Self.isPlain(request.path)
        else { return "path" }
        guard request.fields.count <= Self.fieldsMax else { return "more than 64 fields" }
        return request.fields.withUnsafeFields { fields in
            for field in fields {
                let isGood =
                    !field.name.isEmpty && field.name.first != UInt8(ascii: ":")
                    && !Self.hasControl(field.name) && !Self.hasControl(field.value)
                if !isGood { return "field '\(String(decoding: field.name, as: UTF8.self))'" }
            }
            return nil
        }
    }

    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }
    }

    /// A byte below a blank, or DEL; eight at a time, for it looks at every byte of every request.
    private static func hasControl(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let low: UInt64 = 0x0101_0101_0101_0101
        let high: UInt64 = 0x8080_8080_8080_8080
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let below = (word &- low &* 0x20) & ~word & high
            let deleted = word ^ (low &* 0x7f)
            let isDeleted = (deleted &- low) & ~deleted & high
            if below | isDeleted != 0 { return true }
            offset += 8
        }
        return bytes[offset...].contains { $0 < 0x20 || $0 == 0x7f }
    }
}
