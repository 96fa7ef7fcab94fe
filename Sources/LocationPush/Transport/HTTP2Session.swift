internal import CNGHTTP2

/// The events of an HTTP/2 session, delivered on the thread that calls ``HTTP2Session/receive(_:)`` or
/// ``HTTP2Session/takeOutput(into:upTo:)``.
package protocol HTTP2Events: AnyObject {
    /// Our HEADERS on a stream are about to be written, so the peer may see them from now on.
    func sends(headersOf stream: Int32)
    /// A header field of a stream; `neverIndexed` is its HPACK form (RFC 7541 section 6.2.3).
    func received(header name: String, _ value: String, neverIndexed: Bool, stream: Int32)
    /// A piece of the body.
    func received(body bytes: UnsafeRawBufferPointer, stream: Int32)
    /// The peer has sent all of its side of the stream.
    func ended(stream: Int32)
    /// The stream is gone; `errorCode` is 0 for a normal end (RFC 9113 section 7).
    func closed(stream: Int32, errorCode: UInt32)
    /// The peer has reset a stream, which it may do to one that has ended too.
    func received(resetOf stream: Int32, errorCode: UInt32)
    /// The peer's SETTINGS, with the number of streams we may have open from now on.
    func received(maxConcurrentStreams: Int)
    /// The peer goes away and has not processed streams above `lastStream`.
    func received(goAwayAfter lastStream: Int32, errorCode: UInt32, reason: [UInt8])
    /// Our PING has been answered.
    func pingAcknowledged()
}

/// A header field to be sent.
package struct HTTP2Header: Sendable, Equatable {
    /// Lower case.
    package let name: String
    /// The value as it goes into the field.
    package let value: String
    /// HPACK: send as a never-indexed literal, so that it does not push useful entries out of the peer's small table.
    package let neverIndexed: Bool

    /// A field, entered into the HPACK table unless `neverIndexed`.
    package init(_ name: String, _ value: String, neverIndexed: Bool = false) {
        self.name = name
        self.value = value
        self.neverIndexed = neverIndexed
    }
}

/// One side of an HTTP/2 connection without its socket: bytes in, bytes out (nghttp2 1.52).
///
/// Belongs to one thread. It answers PING and SETTINGS by itself and sends no PRIORITY.
package final class HTTP2Session {
    private let session: OpaquePointer
    private unowned let events: any HTTP2Events
    /// Bodies that are being sent, with the number of bytes already given away.
    fileprivate var bodies: [Int32: (bytes: [UInt8], sent: Int)] = [:]
    private var scratch: [UInt8] = []

    /// The client's side.
    package static func client(events: any HTTP2Events) -> HTTP2Session {
        HTTP2Session(events: events, isServer: false, settings: [(NGHTTP2_SETTINGS_ENABLE_PUSH, 0)])
    }

    /// The server's side, which allows the client `maxConcurrentStreams` streams at a time.
    package static func server(events: any HTTP2Events, maxConcurrentStreams: Int) -> HTTP2Session {
        let limit = (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: maxConcurrentStreams))
        return HTTP2Session(events: events, isServer: true, settings: [limit])
    }

    private init(events: any HTTP2Events, isServer: Bool, settings: [(nghttp2_settings_id, UInt32)]) {
        self.events = events
        var made: OpaquePointer?
        // Out of memory is the only error these calls know.
        let code =
            isServer
            ? nghttp2_session_server_new(&made, callbacks.table, nil)
            : nghttp2_session_client_new(&made, callbacks.table, nil)
        guard code == 0, let made else { preconditionFailure("nghttp2 has no memory for a session") }
        self.session = made
        nghttp2_session_set_user_data(made, Unmanaged.passUnretained(self).toOpaque())
        submit(settings: settings)
    }

    deinit {
        nghttp2_session_del(session)
    }

    /// Reads bytes from the peer and calls `events` for their frames.
    ///
    /// - Throws: ``TransportFault`` when the peer broke the protocol beyond what a GOAWAY can say.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws(TransportFault) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let taken = nghttp2_session_mem_recv(session, start, bytes.count)
        guard taken == bytes.count else { throw Self.fault(Int32(clamping: taken)) }
    }

    /// Appends output until `buffer` holds at least `limit` bytes or nothing is left.
    package func takeOutput(into buffer: inout [UInt8], upTo limit: Int) throws(TransportFault) {
        while buffer.count < limit {
            var data: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(session, &data)
            guard count >= 0 else { throw Self.fault(Int32(clamping: count)) }
            guard count > 0 else { return }
            buffer.append(contentsOf: UnsafeBufferPointer(start: data, count: count))
        }
    }

    /// Whether both sides have said all they have to say, as after a GOAWAY whose streams have ended.
    package var isOver: Bool {
        nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0
    }

    /// Opens a stream with a request.
    ///
    /// - Returns: the stream's id.
    /// - Throws: ``TransportFault`` when no stream id is left.
    package func submitRequest(_ headers: [HTTP2Header], body: [UInt8]) throws(TransportFault) -> Int32 {
        var source = nghttp2_data_provider(source: nghttp2_data_source(ptr: nil), read_callback: readBody)
        let stream = withFields(headers) { fields, count in
            withUnsafePointer(to: &source) { source in
                nghttp2_submit_request(session, nil, fields, count, body.isEmpty ? nil : source, nil)
            }
        }
        guard stream > 0 else { throw Self.fault(stream) }
        if !body.isEmpty { bodies[stream] = (body, 0) }
        return stream
    }

    /// Answers a stream.
    package func submitResponse(_ headers: [HTTP2Header], body: [UInt8], stream: Int32) {
        var source = nghttp2_data_provider(source: nghttp2_data_source(ptr: nil), read_callback: readBody)
        if !body.isEmpty { bodies[stream] = (body, 0) }
        // Except for lack of memory, the only error is a stream that is already answered or closed. No peer waits for
        // this response then.
        let code = withFields(headers) { fields, count in
            withUnsafePointer(to: &source) { source in
                nghttp2_submit_response(session, stream, fields, count, body.isEmpty ? nil : source)
            }
        }
        if code != 0 { bodies[stream] = nil }
    }

    /// Resets a stream with an error code of RFC 9113 section 7. A request whose HEADERS were not written yet is not
    /// sent (nghttp2: `nghttp2_submit_rst_stream` cancels pending request HEADERS).
    package func submitReset(stream: Int32, errorCode: UInt32) {
        _ = nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, errorCode)
    }

    /// Sends a PING; ``HTTP2Events/pingAcknowledged()`` follows.
    package func submitPing() {
        _ = nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// Says that streams above `lastStream` are not processed and none will be opened.
    package func submitGoAway(lastStream: Int32, errorCode: UInt32, reason: [UInt8]) {
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        _ = nghttp2_submit_goaway(session, flags, lastStream, errorCode, reason, reason.count)
    }

    /// Allows the peer another number of streams at a time.
    package func submit(maxConcurrentStreams: Int) {
        submit(settings: [(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: maxConcurrentStreams))])
    }

    private func submit(settings: [(nghttp2_settings_id, UInt32)]) {
        let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        _ = nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
    }

    /// Lends nghttp2 the fields as pointers into one buffer; it copies them before it returns.
    private func withFields(
        _ headers: [HTTP2Header], _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Int32
    ) -> Int32 {
        scratch.removeAll(keepingCapacity: true)
        for header in headers {
            scratch.append(contentsOf: header.name.utf8)
            scratch.append(contentsOf: header.value.utf8)
        }
        return scratch.withUnsafeMutableBufferPointer { buffer in
            var next = buffer.baseAddress!
            let fields = headers.map { header in
                let value = next + header.name.utf8.count
                let field = nghttp2_nv(
                    name: next, value: value, namelen: header.name.utf8.count, valuelen: header.value.utf8.count,
                    flags: UInt8((header.neverIndexed ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE).rawValue))
                next = value + header.value.utf8.count
                return field
            }
            return fields.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
        }
    }

    fileprivate func frameReceived(_ frame: nghttp2_frame) {
        let isAcknowledgement = frame.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        switch UInt32(frame.hd.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            if frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
                events.ended(stream: frame.hd.stream_id)
            }
        case NGHTTP2_RST_STREAM.rawValue:
            events.received(resetOf: frame.hd.stream_id, errorCode: frame.rst_stream.error_code)
        case NGHTTP2_SETTINGS.rawValue where !isAcknowledgement:
            let limit = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
            events.received(maxConcurrentStreams: Int(limit))
        case NGHTTP2_PING.rawValue where isAcknowledgement:
            events.pingAcknowledged()
        case NGHTTP2_GOAWAY.rawValue:
            let reason = UnsafeBufferPointer(start: frame.goaway.opaque_data, count: frame.goaway.opaque_data_len)
            events.received(
                goAwayAfter: frame.goaway.last_stream_id, errorCode: frame.goaway.error_code, reason: Array(reason))
        default:
            break
        }
    }

    fileprivate func frameLeaves(_ frame: nghttp2_frame) {
        if UInt32(frame.hd.type) == NGHTTP2_HEADERS.rawValue { events.sends(headersOf: frame.hd.stream_id) }
    }

    fileprivate func headerReceived(stream: Int32, name: String, value: String, neverIndexed: Bool) {
        events.received(header: name, value, neverIndexed: neverIndexed, stream: stream)
    }

    fileprivate func bodyReceived(stream: Int32, bytes: UnsafeRawBufferPointer) {
        events.received(body: bytes, stream: stream)
    }

    fileprivate func streamClosed(_ stream: Int32, errorCode: UInt32) {
        bodies[stream] = nil
        events.closed(stream: stream, errorCode: errorCode)
    }

    private static func fault(_ code: Int32) -> TransportFault {
        TransportFault("HTTP/2: \(String(cString: nghttp2_strerror(code)))")
    }
}

/// The error codes of RFC 9113 section 7 that matter here.
package enum HTTP2ErrorCode {
    /// No error: a graceful end.
    package static let none: UInt32 = 0
    /// Something went wrong inside the peer.
    package static let internalError: UInt32 = 2
    /// The stream was not processed at all.
    package static let refusedStream: UInt32 = 7
    /// The stream is no longer wanted.
    package static let cancel: UInt32 = 8
}

/// The callback table, made once; nghttp2 copies it into each session.
///
/// `@unchecked Sendable`: filled here and only read afterwards.
private struct Callbacks: @unchecked Sendable {
    let table: OpaquePointer

    init() {
        var made: OpaquePointer?
        guard nghttp2_session_callbacks_new(&made) == 0, let made else {
            preconditionFailure("nghttp2 has no memory for its callbacks")
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(made) { _, frame, owner in
            session(owner).frameReceived(frame!.pointee)
            return 0
        }
        nghttp2_session_callbacks_set_before_frame_send_callback(made) { _, frame, owner in
            session(owner).frameLeaves(frame!.pointee)
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(made) {
            _, frame, name, nameLength, value, valueLength, flags, owner in
            session(owner).headerReceived(
                stream: frame!.pointee.hd.stream_id,
                name: String(decoding: UnsafeBufferPointer(start: name, count: nameLength), as: UTF8.self),
                value: String(decoding: UnsafeBufferPointer(start: value, count: valueLength), as: UTF8.self),
                neverIndexed: flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) != 0)
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made) { _, _, stream, data, length, owner in
            session(owner).bodyReceived(stream: stream, bytes: UnsafeRawBufferPointer(start: data, count: length))
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(made) { _, stream, errorCode, owner in
            session(owner).streamClosed(stream, errorCode: errorCode)
            return 0
        }
        self.table = made
    }
}

private let callbacks = Callbacks()

/// The session behind a callback's user data. Valid because sessions delete their nghttp2 half before they go.
private func session(_ owner: UnsafeMutableRawPointer?) -> HTTP2Session {
    Unmanaged<HTTP2Session>.fromOpaque(owner!).takeUnretainedValue()
}

private let readBody: nghttp2_data_source_read_callback = { _, stream, buffer, length, flags, _, owner in
    let session = session(owner)
    guard let body = session.bodies[stream] else {
        return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
    let count = min(length, body.bytes.count - body.sent)
    body.bytes.withUnsafeBufferPointer { bytes in
        buffer!.update(from: bytes.baseAddress! + body.sent, count: count)
    }
    if body.sent + count == body.bytes.count {
        flags!.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue)
        session.bodies[stream] = nil
    } else {
        session.bodies[stream]?.sent += count
    }
    return count
}
