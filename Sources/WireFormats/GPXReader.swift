import CExpat

/// Reads GPX 1.0 and 1.1 in pieces of any size; memory does not grow with the file.
///
/// Elements are recognized by their local names, in the GPX namespaces, in another or in none, because real files have
/// all three. Track points are fixes. Waypoints and the points of routes are places and plans; they are only counted.
/// The encodings are expat's (UTF-8, UTF-16, Latin-1, ASCII) and all single-byte ones that contain ASCII (windows-125x,
/// ISO 8859, KOI8), because everything read is ASCII, except for names, which are ignored.
///
/// The reader fetches nothing. It refuses document types with an internal subset, and so entities (expat's own
/// protection against their amplification stays on). Depth, text and markup are bounded.
///
/// Source: GPX 1.1 schema (topografix.com/GPX/1/1), expat's `expat.h`.
package struct GPXReader: ~Copyable {
    /// The deepest nesting of elements; a GPX file with extensions has about 8.
    package static let depthMax = 64
    /// The longest tag, comment or instruction in bytes, which expat keeps in memory until it is complete. One that is
    /// longer by up to ``sliceBytes`` may still be read.
    package static let markupBytes = 1 << 20
    /// The bytes that expat gets at once; the bounds are checked in between.
    static let sliceBytes = 64 << 10

    private let parser: XML_Parser
    private let state: GPXState
    private var bytesFed = 0
    private var fault: GPXError?

    /// - Precondition: There is memory for expat's parser.
    package init() {
        guard let parser = XML_ParserCreate(nil) else { preconditionFailure("There is no memory for an XML parser.") }
        self.parser = parser
        state = GPXState(parser: parser)
        // The reader owns both and outlives every call of expat, so the state need not be retained for it.
        XML_SetUserData(parser, Unmanaged.passUnretained(state).toOpaque())
        XML_SetElementHandler(
            parser,
            { state, name, attributes in GPXState.of(state).beginElement(name, attributes: attributes) },
            { state, _ in GPXState.of(state).endElement() })
        XML_SetCharacterDataHandler(parser) { state, text, count in GPXState.of(state).append(text, count: Int(count)) }
        XML_SetStartDoctypeDeclHandler(parser) { state, _, _, _, hasInternalSubset in
            let state = GPXState.of(state)
            if hasInternalSubset != 0 { state.stop(.internalSubset(line: state.line)) }
        }
        XML_SetUnknownEncodingHandler(parser, { _, name, encoding in describeEncoding(name, in: encoding) }, nil)
    }

    deinit {
        XML_ParserFree(parser)
    }

    /// The counts so far.
    package var counts: GPXCounts { state.counts }

    /// The track points read since the last call, in file order. After an error, these are the points before it.
    package mutating func takePoints() -> [GPXPoint] {
        defer { state.points = [] }
        return state.points
    }

    /// Reads the next bytes.
    ///
    /// - Throws: ``GPXError``; a reader that has thrown throws the same again.
    package mutating func feed(_ bytes: some Collection<UInt8>) throws(GPXError) {
        // A closure would throw untyped: the result is carried out instead.
        let result =
            bytes.withContiguousStorageIfAvailable { feed(contiguous: $0) }
            ?? Array(bytes).withUnsafeBufferPointer { feed(contiguous: $0) }
        try result.get()
    }

    /// Takes the end of the file.
    ///
    /// - Throws: ``GPXError``, also if elements are still open or there were none.
    package mutating func finish() throws(GPXError) {
        try parse(UnsafeBufferPointer(start: nil, count: 0)[...], isFinal: true).get()
    }

    private mutating func feed(contiguous bytes: UnsafeBufferPointer<UInt8>) -> Result<Void, GPXError> {
        var rest = bytes[...]
        while !rest.isEmpty {
            let result = parse(rest.prefix(Self.sliceBytes), isFinal: false)
            guard case .success = result else { return result }
            rest = rest.dropFirst(Self.sliceBytes)
        }
        return .success(())
    }

    private mutating func parse(
        _ bytes: Slice<UnsafeBufferPointer<UInt8>>, isFinal: Bool
    ) -> Result<Void, GPXError> {
        if let fault { return .failure(fault) }
        let slice = UnsafeBufferPointer(rebasing: bytes)
        let status = slice.withMemoryRebound(to: CChar.self) {
            XML_Parse(parser, $0.baseAddress, Int32($0.count), isFinal ? 1 : 0)
        }
        bytesFed += slice.count
        if status != XML_STATUS_OK {
            let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown error"
            fault = state.fault ?? .malformed(line: state.line, reason: reason)
        } else if bytesFed - Int(XML_GetCurrentByteIndex(parser)) > Self.markupBytes {
            fault = .markupTooLong(line: state.line)
        }
        return fault.map { .failure($0) } ?? .success(())
    }
}

/// The counts of a GPX file.
package struct GPXCounts: Hashable, Sendable {
    /// The tracks.
    package internal(set) var tracks = 0
    /// The segments, including empty ones.
    package internal(set) var segments = 0
    /// The track points.
    package internal(set) var trackPoints = 0
    /// The track points without a time, or with an empty one.
    package internal(set) var untimed = 0
    /// The waypoints.
    package internal(set) var waypoints = 0
    /// The routes.
    package internal(set) var routes = 0
    /// The points of routes.
    package internal(set) var routePoints = 0
}

/// Describes a single-byte encoding that contains ASCII to expat, as Latin-1. The bytes that differ occur only in names
/// and comments, which are not read. Other encodings are refused, with 0.
func describeEncoding(_ name: UnsafePointer<CChar>?, in encoding: UnsafeMutablePointer<XML_Encoding>?) -> Int32 {
    guard let name, let encoding else { return 0 }
    let word = String(cString: name).lowercased()
    guard ["windows-125", "cp125", "iso-8859-", "koi8-"].contains(where: word.hasPrefix) else { return 0 }
    withUnsafeMutableBytes(of: &encoding.pointee.map) { bytes in
        let map = bytes.bindMemory(to: Int32.self)
        for byte in map.indices { map[byte] = Int32(byte) }
    }
    encoding.pointee.data = nil
    encoding.pointee.convert = nil
    encoding.pointee.release = nil
    return 1
}
