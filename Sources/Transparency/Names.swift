/// The permanent identity of a log: the first line of its checkpoints, for example
/// `where.example/whereabouts/7f3c/p/k2m9`.
///
/// Two origins are equal when their bytes are. (`String` would take different spellings of an accent for equal.)
package struct LogOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The longest origin in bytes of UTF-8.
    package static let bytesMax = 512

    package let text: String

    /// The origin with this text.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` unless it is one line of 1 to ``bytesMax`` bytes without control
    ///   characters.
    package init(_ text: some StringProtocol) throws(TransparencyError) {
        guard (1...Self.bytesMax).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .malformed("an origin is one line of 1 to \(Self.bytesMax) bytes without control characters")
        }
        self.text = String(text)
    }

    package var description: String { text }

    package static func == (a: LogOrigin, b: LogOrigin) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// The name of a key that signs notes (C2SP signed-note), for example `witness.example/w1`. Compared by bytes, as
/// ``LogOrigin`` is.
package struct KeyName: Hashable, Sendable, CustomStringConvertible {
    /// The longest name in bytes of UTF-8.
    package static let bytesMax = 512

    package let text: String

    /// The name with this text.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` unless it has 1 to ``bytesMax`` bytes, no plus sign, no control
    ///   character and no white space of Unicode.
    package init(_ text: some StringProtocol) throws(TransparencyError) {
        guard (1...Self.bytesMax).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ scalar in
                scalar.value >= 0x20 && scalar.value != 0x7F && scalar != "+" && !scalar.properties.isWhitespace
            })
        else {
            throw .malformed("the name of a key has 1 to \(Self.bytesMax) bytes, no spaces and no plus sign")
        }
        self.text = String(text)
    }

    package var description: String { text }

    package static func == (a: KeyName, b: KeyName) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
