import CQREncode

/// A QR code (ISO/IEC 18004) of a text, as small as it can be (`QRcode_encodeData` of libqrencode).
package struct QRSymbol: Sendable {
    /// Modules along one side.
    package let width: Int
    private let modules: [Bool]

    /// Modules of light around it, which readers need (section 5.3.8).
    private static let quietZone = 4

    /// `nil` when the text is empty, or longer than the 2,953 bytes that the largest one holds.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let code = QRcode_encodeData(Int32(clamping: bytes.count), bytes, 0, QR_ECLEVEL_L) else { return nil }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        guard let data = code.pointee.data else { return nil }
        // The lowest bit of a module is its color (1 is dark); the others are its function.
        modules = (0..<width * width).map { data[$0] & 1 == 1 }
    }

    /// Whether a module is dark; those around the code are light.
    private func isDark(_ row: Int, _ column: Int) -> Bool {
        (0..<width).contains(row) && (0..<width).contains(column) && modules[row * width + column]
    }

    /// The code for a terminal, two rows of modules in each line of text. Light modules are drawn, dark ones are the
    /// ground: most terminals are dark.
    ///
    /// - Parameter colored: with the control codes (ECMA-48 SGR) that make it so on every terminal.
    package func text(colored: Bool) -> String {
        var lines = ""
        for row in stride(from: -Self.quietZone, to: width + Self.quietZone, by: 2) {
            if colored { lines += "\u{1B}[97;40m" }
            for column in -Self.quietZone..<width + Self.quietZone {
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (false, false): lines += "█"
                case (false, true): lines += "▀"
                case (true, false): lines += "▄"
                case (true, true): lines += " "
                }
            }
            lines += colored ? "\u{1B}[0m\n" : "\n"
        }
        return lines
    }
}
