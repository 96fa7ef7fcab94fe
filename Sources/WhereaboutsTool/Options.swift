import Geodesy
import Whereabouts

/// The options that several commands share, and the forms of their values.
enum Options {
    static let person = handle("person", help: "the person")
    static let device = handle("device", help: "the device")
    static let purpose = text("purpose", "TEXT", help: "why you ask; it is recorded and shown to the person")
    static let json = Option.flag("json", help: "print JSON; times are Unix seconds")
    static let yes = Option.flag("yes", help: "do not ask for confirmation")
    static let from = time("from", help: "not before this time")
    static let to = time("to", help: "not after this time")
    static let until = time("until", help: "until this moment")

    static let languages = Option(
        name: "lang", placeholder: "TAG[,TAG…]",
        help: "languages for the names of places, the preferred first, for example de or zh-TW",
        form: "a list of languages, for example de,en"
    ) { (text: String) -> [String]? in
        let tags = text.split(separator: ",").map(String.init)
        // The tags are sent in a header.
        return tags.allSatisfy { $0.utf8.allSatisfy { (0x21...0x7e).contains($0) } } ? tags : nil
    }

    /// The name of a person or device.
    static func handle(
        _ name: String, _ placeholder: String = "HANDLE", formerName: String? = nil, help: String
    ) -> Option<Handle> {
        Option(
            name: name, formerName: formerName, placeholder: placeholder, help: help, form: handleForm,
            read: { Handle($0) })
    }

    fileprivate static let handleForm =
        "1 to 63 of a-z, 0-9, \".\", \"_\" and \"-\", beginning with a letter or digit, for example anna"

    static func text(_ name: String, _ placeholder: String, help: String) -> Option<String> {
        Option(
            name: name, placeholder: placeholder, help: help, form: "a text that is not empty",
            read: { $0.isEmpty ? nil : $0 })
    }

    /// The service's name for a thing: the operator's number, or a person's reference.
    static func name(_ name: String, _ placeholder: String, help: String) -> Option<String> {
        Option(
            name: name, placeholder: placeholder, help: help, form: "a number or reference, as a list shows it",
            read: { isName($0) ? $0 : nil })
    }

    static func isName(_ text: String) -> Bool {
        if let number = Int64(text) { return number > 0 }
        return text.first == "r" && text.utf8.count == 23
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    static func number(_ name: String, _ placeholder: String, in range: ClosedRange<Int64>, help: String)
        -> Option<Int64>
    {
        Option(
            name: name, placeholder: placeholder, help: help,
            form: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            read: { text in Int64(text).flatMap { range.contains($0) ? $0 : nil } })
    }

    static func time(_ name: String, help: String) -> Option<Timestamp> {
        Option(
            name: name, placeholder: "TIME", help: help,
            form: "a time, for example 2026-05-01, 2026-05-01T08:00, yesterday or -2h, or Unix seconds",
            read: { LocalTime.parse($0) })
    }

    /// A length in seconds.
    static func duration(_ name: String, help: String) -> Option<Int64> {
        Option(
            name: name, placeholder: "LENGTH", help: help, form: "a length, for example 90m, 8h or 7d",
            read: { LocalTime.seconds($0) })
    }

    static func choice(_ name: String, _ words: [String], help: String) -> Option<String> {
        Option(
            name: name, placeholder: words.joined(separator: "|"), help: help,
            form: "one of \(words.joined(separator: ", "))", read: { words.contains($0) ? $0 : nil })
    }

    /// The help paragraph about times.
    static let timesHelp = """
        A TIME is 2026-05-01 or 2026-05-01T08:00 in this computer's time zone, 2026-05-01T08:00:00Z or with another offset,
        now, today, yesterday, -90m, -2h, -7d, or Unix seconds.
        """

    /// Reads `LAT,LON` in degrees, with optional spaces around the numbers.
    static func coordinate(_ text: Substring) throws(CoordinateError) -> Coordinate {
        guard let comma = text.utf8.firstIndex(of: UInt8(ascii: ",")), let latitude = number(text[..<comma]),
            let longitude = number(text[text.utf8.index(after: comma)...])
        else { throw .notFinite }
        return try Coordinate(latitude: latitude, longitude: longitude)
    }

    private static func number(_ text: Substring) -> Double? {
        var trimmed = text
        func isSpace(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        while isSpace(trimmed.utf8.first) { trimmed = trimmed[trimmed.utf8.index(after: trimmed.utf8.startIndex)...] }
        while isSpace(trimmed.utf8.last) { trimmed = trimmed[..<trimmed.utf8.index(before: trimmed.utf8.endIndex)] }
        return Double(trimmed)
    }
}

extension Invocation {
    /// The operand as a handle.
    func handle() throws(ToolError) -> Handle {
        guard let handle = Handle(operands[0]) else {
            throw .usage("\"\(command.name)\" takes a HANDLE: \(Options.handleForm).")
        }
        return handle
    }

    /// The operand as the number of a grant, token or the like, which `source` shows; without it the subject's list.
    func number(from source: String? = nil) throws(ToolError) -> String {
        guard Options.isName(operands[0]) else {
            throw .usage("\"\(command.name)\" takes a number from \"\(source ?? "\(command.words[0]) list")\".")
        }
        return operands[0]
    }
}
