import CNghttp2
import Glibc

/// Hands requests to nghttp2. A request costs no closure, dictionary or string of its own: nghttp2
/// copies names and values once, directly from the request.
extension HTTP2ClientSession {
    /// Returns the stream's id. Fails if `capacity` is 0, or if HTTP/2 cannot carry the request.
    func submit(
        _ request: borrowing HTTP2Request, deadline: Int64, receiver: (any HTTP2AnswerReceiver)?,
        tag: UInt64, stream: HTTP2ResponseStream? = nil
    ) -> Result<Int32, HTTP2Failure> {
        guard capacity > 0 else { return .failure(goAway.map { .goneAway($0) } ?? .noCapacity) }
        if let part = HTTP2RequestCheck.unsendablePart(request) {
            return .failure(.unsendable(part))
        }
        let slot = slab.takeSlot()
        slot.pointee.tag = tag
        slot.receiver = receiver
        slot.stream = stream
        slot.pointee.deadline = deadline
        slot.pointee.requestBody = request.body
        let hasBody = !request.body.isEmpty || stream?.hasMoreUpload == true
        slot.pointee.hasRequestEnded = !hasBody
        let id = submitToSession(request, slot, hasBody: hasBody)
        guard id > 0 else {
            slab.giveBack(slot)
            // The stream ids of one connection are used up after 2^30 requests. nghttp2 has no
            // other reason to fail here.
            drain()
            return .failure(.noCapacity)
        }
        slot.pointee.streamID = id
        return .success(id)
    }

    /// Hot path: submits the next request of `template`. Returns nil on success, else the reason of
    /// the refusal. Varying values are copied to the slot's memory, where nghttp2 reads them.
    func submit(
        _ template: HTTP2RequestTemplate, body: [UInt8], deadline: Int64, tag: UInt64
    ) -> HTTP2Failure? {
        guard capacity > 0 else { return goAway.map { .goneAway($0) } ?? .noCapacity }
        if let part = template.unsendablePart { return .unsendable(part) }
        let slot = slab.takeSlot()
        slot.pointee.tag = tag
        slot.pointee.tellsSessionReceiver = true
        slot.pointee.deadline = deadline
        slot.pointee.requestBody = body
        slot.pointee.hasRequestEnded = body.isEmpty
        slot.pointee.keepsFailuresOnly = template.keeping == .failures
        let indexesNames = keep(template)
        if template.valuesCount <= StreamSlot.valueBytesMax {
            let values = slab.takeValues(for: slot)
            memcpy(values, template.values, template.valuesCount)
            template.point(at: values, isCopied: false, indexesNames: indexesNames)
        } else {
            template.point(at: template.values, isCopied: true, indexesNames: indexesNames)
        }
        let id: Int32
        if body.isEmpty {
            id = nghttp2_submit_request(session, nil, template.names, template.count, nil, slot)
        } else {
            var provider = nghttp2_data_provider(
                source: nghttp2_data_source(ptr: slot), read_callback: Self.readBody)
            id = nghttp2_submit_request(
                session, nil, template.names, template.count, &provider, slot)
        }
        guard id > 0 else {
            slab.giveBack(slot)
            drain()
            return .noCapacity
        }
        slot.pointee.streamID = id
        return nil
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
            // The request was given up. Reset the stream: a cut body must not look complete.
            guard slot.pointee.streamID != 0 else {
                return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
            }
            if let stream = slot.stream {
                stream.moveUpload(to: &slot.pointee.requestBody, &slot.pointee.requestOffset)
            }
            let offset = slot.pointee.requestOffset
            let count = min(capacity, slot.pointee.requestBody.count - offset)
            slot.pointee.requestBody.withUnsafeBytes { body in
                if count > 0, let base = body.baseAddress { memcpy(buffer, base + offset, count) }
            }
            slot.pointee.requestOffset += count
            let isAtEnd = slot.pointee.requestOffset == slot.pointee.requestBody.count
            if isAtEnd, slot.stream?.hasMoreUpload != true {
                slot.pointee.hasRequestEnded = true
                // Free the body now, while it is still in the CPU cache.
                slot.pointee.requestBody = []
                slot.pointee.requestOffset = 0
                flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
            } else if count == 0 {
                return Int(NGHTTP2_ERR_DEFERRED.rawValue)
            }
            return count
        }
}
