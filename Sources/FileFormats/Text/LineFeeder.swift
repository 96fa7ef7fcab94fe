import WireFormats

/// Cuts a text into lines, which end with a line feed, a carriage return or both. At most one line is kept.
struct LineFeeder {
    /// The longest line; a longer one is cut here.
    let bytesMax: Int
    /// The number of the last line that was given, from 1.
    private(set) var number = 0
    private var partial: [UInt8] = []
    private var isTooLong = false
    private var followsReturn = false

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// One line without its end; `isCut` if it was too long.
    struct Line {
        let number: Int
        let text: ArraySlice<UInt8>
        let isCut: Bool
    }

    /// Takes the next bytes and gives the lines that end in them.
    mutating func read(_ bytes: ArraySlice<UInt8>, _ take: (Line) throws(FormatFault) -> Void) throws(FormatFault) {
        var start = bytes.startIndex
        var index = start
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == 0x0A || byte == 0x0D {
                let isSecond = byte == 0x0A && followsReturn && start == index && partial.isEmpty && !isTooLong
                if !isSecond { try end(bytes[start..<index], take) }
                start = index + 1
            }
            followsReturn = byte == 0x0D
            index += 1
        }
        append(bytes[start...])
    }

    /// Gives the last line if it has no end.
    mutating func finish(_ take: (Line) throws(FormatFault) -> Void) throws(FormatFault) {
        if !partial.isEmpty || isTooLong { try end([], take) }
    }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        if partial.count + bytes.count > bytesMax {
            partial.append(contentsOf: bytes.prefix(bytesMax - partial.count))
            isTooLong = true
        } else {
            partial.append(contentsOf: bytes)
        }
    }

    private mutating func end(_ rest: ArraySlice<UInt8>, _ take: (Line) throws(FormatFault) -> Void) throws(FormatFault)
    {
        number += 1
        var text = rest
        if !partial.isEmpty || isTooLong || rest.count > bytesMax {
            append(rest)
            text = partial[...]
        }
        if number == 1, text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        let line = Line(number: number, text: text, isCut: isTooLong)
        partial = []
        isTooLong = false
        try take(line)
    }
}
