import WireFormats

/// Finds the elements of arrays in a JSON text of any size, without keeping the text.
///
///     {"locations": [ {…}, {…} ], "other": […]}        the elements of the arrays named, which are members of the root
///     [ {…}, {…} ]                                     the elements of the root
///     {…}                                              the root, if no array is named
///
/// It follows only quotes and brackets; each element is then parsed completely. Memory is one element, at most
/// ``elementBytes``. A longer one is passed over.
struct JSONSplitter {
    /// The longest element. A day of a phone's points is 1 to 3 MB.
    static let elementBytes = 8 << 20
    /// The deepest nesting; parsers of elements allow 32.
    static let depthMax = 64
    private static let keyBytes = 64

    /// The arrays in the root object; none for the root itself.
    private let arrays: Set<String>

    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var rootIsObject = false
    /// Whether the root was begun, and whether it was ended.
    private(set) var hasRoot = false
    private var isDone = false

    private var expectsKey = false
    private var collectsKey = false
    private var key: [UInt8] = []
    /// The name of the array whose elements are taken.
    private var arrayName = ""
    /// The depth at which elements begin; −1 outside of the arrays.
    private var elementDepth = -1

    private var isCapturing = false
    private var captureDepth = 0
    private var isTooLong = false
    private var carry: [UInt8] = []

    /// - Parameter arrays: The names; none for the root itself, and then roots may follow one another.
    init(arrays: [String]) {
        self.arrays = Set(arrays)
        if arrays.isEmpty { elementDepth = 0 }
    }

    /// Whether the text is complete.
    var isComplete: Bool { isDone }

    /// Reads the next bytes.
    ///
    /// - Parameter take: Gets each element with the name of its array; no bytes for one that is too long.
    /// - Returns: `false` if the brackets do not match, or something follows the root.
    mutating func read(
        _ bytes: ArraySlice<UInt8>, _ take: (String, ArraySlice<UInt8>?) throws(FormatFault) -> Void
    ) throws(FormatFault) -> Bool {
        let first = bytes.startIndex
        var start = first
        var index = first
        let end = bytes.endIndex
        while index < end {
            let byte = bytes[index]
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    collectsKey = false
                }
                if collectsKey, key.count < Self.keyBytes { key.append(byte) }
                index += 1
                continue
            }
            if DecimalText.isWhiteSpace(byte) || byte == UInt8(ascii: ":") {
                index += 1
                continue
            }
            if !hasRoot {
                // A byte order mark.
                if byte == 0xEF || byte == 0xBB || byte == 0xBF {
                    index += 1
                    continue
                }
            } else if isDone {
                // Texts may follow one another if each is an element.
                guard arrays.isEmpty else { return false }
                isDone = false
            }
            if !isCapturing, depth == elementDepth, byte != UInt8(ascii: ","), byte != UInt8(ascii: "]"),
                byte != UInt8(ascii: "}")
            {
                (isCapturing, captureDepth, start) = (true, depth, index)
            }
            switch byte {
            case UInt8(ascii: "\""):
                isInString = true
                if expectsKey, depth == 1, rootIsObject {
                    (collectsKey, expectsKey) = (true, false)
                    key.removeAll(keepingCapacity: true)
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let isArray = byte == UInt8(ascii: "[")
                if depth == 0 {
                    (hasRoot, rootIsObject, expectsKey) = (true, !isArray, !isArray)
                    if isArray, !arrays.isEmpty { elementDepth = 1 }
                } else if depth == 1, rootIsObject, isArray, !arrays.isEmpty {
                    let name = String(decoding: key, as: UTF8.self)
                    if arrays.contains(name) { (arrayName, elementDepth) = (name, 2) }
                }
                depth += 1
                if depth > Self.depthMax { return false }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return false }
                depth -= 1
                if isCapturing, depth <= captureDepth {
                    // A scalar ends before the bracket of its array.
                    let after = depth == captureDepth ? index + 1 : index
                    try finish(bytes[start..<after], take)
                }
                if elementDepth == 2, depth == 1 { elementDepth = -1 }
                if depth == 0 { isDone = true }
            case UInt8(ascii: ","):
                if isCapturing, depth == captureDepth { try finish(bytes[start..<index], take) }
                if depth == 1 { expectsKey = true }
            default:
                if !hasRoot { return false }
            }
            index += 1
        }
        if isCapturing { carry(over: bytes[start..<end]) }
        return true
    }

    private mutating func carry(over rest: ArraySlice<UInt8>) {
        if carry.count + rest.count > Self.elementBytes {
            isTooLong = true
            carry.removeAll(keepingCapacity: false)
        } else if !isTooLong {
            carry.append(contentsOf: rest)
        }
    }

    private mutating func finish(
        _ rest: ArraySlice<UInt8>, _ take: (String, ArraySlice<UInt8>?) throws(FormatFault) -> Void
    ) throws(FormatFault) {
        isCapturing = false
        guard !carry.isEmpty || isTooLong else {
            try take(arrayName, rest)
            return
        }
        carry(over: rest)
        let whole = isTooLong ? nil : carry[...]
        isTooLong = false
        defer { carry.removeAll(keepingCapacity: true) }
        try take(arrayName, whole)
    }
}
