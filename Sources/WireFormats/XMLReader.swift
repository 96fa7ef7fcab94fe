import CExpat

/// One step through an XML document.
package enum XMLStep: Sendable {
    /// An element begins. Names are local names, without their namespaces.
    case begin(String, attributes: [(name: String, value: String)], line: Int)
    /// An element ends, with the text in it but in none of its children; `nil` if the text is too long.
    case end(String, text: String?, line: Int)
}

/// Reads XML in pieces of any size, as steps; memory does not grow with the file.
///
/// The bounds and the encodings are those of ``GPXReader``. White space before the declaration, which Garmin and Strava
/// write and expat refuses, is skipped.
package struct XMLReader: ~Copyable {
    private let parser: XML_Parser
    private let state: XMLState
    private var bytesFed = 0
    private var fault: GPXError?
    private var hasBegun = false

    /// - Parameter textBytes: The longest text of one element.
    /// - Precondition: There is memory for expat's parser.
    package init(textBytes: Int = 4096) {
        guard let parser = XML_ParserCreate(nil) else { preconditionFailure("There is no memory for an XML parser.") }
        self.parser = parser
        state = XMLState(parser: parser, textBytes: textBytes)
        // The reader owns both and outlives every call of expat, so the state need not be retained for it.
        XML_SetUserData(parser, Unmanaged.passUnretained(state).toOpaque())
        XML_SetElementHandler(
            parser,
            { state, name, attributes in XMLState.of(state).begin(name, attributes) },
            { state, name in XMLState.of(state).end(name) })
        XML_SetCharacterDataHandler(parser) { state, text, count in XMLState.of(state).append(text, count: Int(count)) }
        XML_SetStartDoctypeDeclHandler(parser) { state, _, _, _, hasInternalSubset in
            let state = XMLState.of(state)
            if hasInternalSubset != 0 { state.stop(.internalSubset(line: state.line)) }
        }
        XML_SetUnknownEncodingHandler(parser, { _, name, encoding in describeEncoding(name, in: encoding) }, nil)
    }

    deinit {
        XML_ParserFree(parser)
    }

    /// The steps read since the last call. After an error, these are the steps before it.
    package mutating func takeSteps() -> [XMLStep] {
        defer { state.steps.removeAll(keepingCapacity: true) }
        return state.steps
    }

    /// Reads the next bytes.
    ///
    /// - Throws: ``GPXError``; a reader that has thrown throws the same again.
    package mutating func feed(_ bytes: ArraySlice<UInt8>) throws(GPXError) {
        var rest = bytes
        if !hasBegun {
            rest = rest.drop(while: DecimalText.isWhiteSpace)
            if rest.isEmpty { return }
            hasBegun = true
        }
        while !rest.isEmpty {
            try rest.prefix(GPXReader.sliceBytes).withUnsafeBufferPointer { parse($0, isFinal: false) }.get()
            rest = rest.dropFirst(GPXReader.sliceBytes)
        }
    }

    /// Takes the end of the file.
    ///
    /// - Throws: ``GPXError``, also if elements are still open or there were none.
    package mutating func finish() throws(GPXError) {
        try parse(UnsafeBufferPointer(start: nil, count: 0), isFinal: true).get()
    }

    private mutating func parse(_ slice: UnsafeBufferPointer<UInt8>, isFinal: Bool) -> Result<Void, GPXError> {
        if let fault { return .failure(fault) }
        let status = slice.withMemoryRebound(to: CChar.self) {
            XML_Parse(parser, $0.baseAddress, Int32($0.count), isFinal ? 1 : 0)
        }
        bytesFed += slice.count
        if status != XML_STATUS_OK {
            let reason = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown error"
            fault = state.fault ?? .malformed(line: state.line, reason: reason)
        } else if bytesFed - Int(XML_GetCurrentByteIndex(parser)) > GPXReader.markupBytes {
            fault = .markupTooLong(line: state.line)
        }
        return fault.map { .failure($0) } ?? .success(())
    }
}

/// The state of an ``XMLReader`` in its file; expat's callbacks change it.
private final class XMLState {
    var steps: [XMLStep] = []
    private(set) var fault: GPXError?
    private let parser: XML_Parser
    private let textBytes: Int
    /// The texts of the open elements; `nil` beyond the bound.
    private var texts: [[UInt8]?] = []

    init(parser: XML_Parser, textBytes: Int) { (self.parser, self.textBytes) = (parser, textBytes) }

    static func of(_ userData: UnsafeMutableRawPointer?) -> XMLState {
        guard let userData else { preconditionFailure("Expat hands back the user data it was given.") }
        return Unmanaged<XMLState>.fromOpaque(userData).takeUnretainedValue()
    }

    var line: Int { Int(XML_GetCurrentLineNumber(parser)) }

    /// Ends parsing. Expat may still finish its present tag, so later callbacks do nothing.
    func stop(_ fault: GPXError) {
        guard self.fault == nil else { return }
        self.fault = fault
        XML_StopParser(parser, XML_Bool(0))
    }

    func begin(_ name: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
        guard fault == nil, let name else { return }
        texts.append([])
        if texts.count > GPXReader.depthMax { return stop(.tooDeep(line: line)) }
        var pairs: [(name: String, value: String)] = []
        var next = attributes
        // Names and values alternate; a null pointer ends them.
        while let pair = next, let key = pair[0], let value = pair[1] {
            pairs.append((Self.localName(key), String(cString: value)))
            next = pair + 2
        }
        steps.append(.begin(Self.localName(name), attributes: pairs, line: line))
    }

    func end(_ name: UnsafePointer<CChar>?) {
        guard fault == nil, let name, let text = texts.popLast() else { return }
        steps.append(
            .end(Self.localName(name), text: text.map { String(decoding: $0, as: UTF8.self) }, line: line))
    }

    func append(_ characters: UnsafePointer<CChar>?, count: Int) {
        guard fault == nil, let characters, let last = texts.indices.last, let length = texts[last]?.count else {
            return
        }
        if length + count > textBytes {
            texts[last] = nil
        } else {
            texts[last]?.append(contentsOf: UnsafeRawBufferPointer(start: characters, count: count))
        }
    }

    private static func localName(_ name: UnsafePointer<CChar>) -> String {
        var start = name
        var next = name
        while next.pointee != 0 {
            if next.pointee == CChar(UInt8(ascii: ":")) { start = next + 1 }
            next += 1
        }
        return String(cString: start)
    }
}
