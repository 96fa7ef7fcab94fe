import Testing

/// How long a function is, and how many stored properties a type has. Both figures are read from the sources, which the
/// formatter has indented.
@Suite struct SizeTests {
    private static let linesOfFunctionMax = 100
    private static let propertiesMax = 12

    /// The types with more stored properties, each with the reason why its properties stay side by side.
    private static let exceptions: [String: String] = [
        // The shape is not ours.
        "CLPlacemark": "Core Location's type",
        "Fix": "the fields of a CLLocation, here and in the app's upload",
        "Report": "the fields of every report that the app uploads",
        "FixDraft": "the fields that any dialect may have",
        "LocationPushAttempt": "the fields of an event",
        "AuditedQuery": "the columns of a row",
        "SettingsChange": "the columns of a row",
        "PushRecord": "the members of a line of JSON",
        // Settings that a caller sets by name.
        "SimulationProfile": "the constants of the simulated device",
        "PushTiming": "the constants of pushing",
        "Phones": "the members of a scenario's file",
        "ServiceConfiguration": "the keys of config.json",
        "Operation": "the members of an operation in the API description",
        // Counts and tables that are made once and then read.
        "ImportReport": "the counts of an import",
        "Supplement": "the tables of a file",
        "PolygonEdge": "the values of one edge, computed once",
        // State machines: each property is a part of one state.
        "JSONSplitter": "the state between two bytes",
        "GPXState": "the state between two elements",
        "KeyWalk": "the state of a walk over a list of keys",
        "EventLog": "what the log's threads and callers share, each under its own lock",
        "ServerLoop": "what the thread of libmicrohttpd's callbacks holds",
        "PushSenderLoop": "what the sender's thread holds",
        "PushLink": "the state of one connection to APNs",
        "StandInConnection": "the state of one connection of the local APNs",
        "SimulatedApplication": "the state of an app in Core Location",
        "SimulatedDevice": "the state of a phone",
        "World": "the parts of a simulated world",
    ]

    /// The index of the last line of the declaration that begins at `index`: the first later one with a brace at the
    /// same indentation. `nil` without one before the end of what surrounds it, as for the requirement of a protocol.
    private static func end(of index: Int, in lines: [Substring]) -> Int? {
        let indentation = lines[index].prefix { $0 == " " }
        for (number, line) in lines.enumerated().dropFirst(index + 1) where !line.isEmpty {
            if line.hasPrefix(indentation + "}") { return number }
            if !line.hasPrefix(indentation) { return nil }
        }
        return nil
    }

    /// The words of a declaration, without its modifiers and attributes.
    private static func words(of line: Substring) -> ArraySlice<Substring> {
        let modifiers: Set<Substring> = [
            "package", "public", "internal", "private", "fileprivate", "final", "indirect", "static", "override",
            "mutating", "consuming", "borrowing", "nonisolated", "convenience", "weak", "unowned", "internal(set)",
            "private(set)", "fileprivate(set)", "nonisolated(unsafe)", "required",
        ]
        return line.split(separator: " ").drop { modifiers.contains($0) || $0.hasPrefix("@") }
    }

    @Test func `a function fits on two screens`() {
        for file in Tree.sources {
            let lines = file.lines
            for index in lines.indices {
                guard let first = Self.words(of: lines[index]).first,
                    first == "func" || first.hasPrefix("init(") || first.hasPrefix("init<"),
                    !lines[index].hasSuffix("}"),
                    let end = Self.end(of: index, in: lines)
                else { continue }
                let count = end - index + 1
                #expect(count <= Self.linesOfFunctionMax, "\(file):\(index + 1) has a function of \(count) lines.")
            }
        }
    }

    @Test func `a type has few stored properties, or a reason`() {
        var large: Set<String> = []
        for file in Tree.sources {
            let lines = file.lines
            // The members of an answer are as many as the interface has.
            for index in lines.indices where lines[index].hasSuffix("{") && !lines[index].contains(": Reply") {
                let words = Self.words(of: lines[index])
                guard let kind = words.first, kind == "struct" || kind == "class" || kind == "actor",
                    let name = words.dropFirst().first?.prefix(while: { $0.isLetter || $0.isNumber || $0 == "_" }),
                    let end = Self.end(of: index, in: lines)
                else { continue }
                let indentation = lines[index].prefix { $0 == " " }.count + 4
                let count = lines[(index + 1)..<end].filter { $0.prefix { $0 == " " }.count == indentation }
                    .reduce(0) { $0 + Self.stored($1) }
                guard count > Self.propertiesMax else { continue }
                large.insert(String(name))
                #expect(
                    Self.exceptions[String(name)] != nil,
                    "\(file): \(name) has \(count) stored properties; group those that change together.")
            }
        }
        #expect(Set(Self.exceptions.keys).subtracting(large) == [], "These are small now; take them from the list.")
    }

    /// How many stored properties a line declares.
    private static func stored(_ line: Substring) -> Int {
        guard !line.contains("static "), let kind = words(of: line).first, kind == "let" || kind == "var",
            let start = line.firstRange(of: "\(kind) ")?.upperBound
        else { return 0 }
        let declared = line[start...]
        let beforeValue = declared.prefix { $0 != "=" }
        // A body without a value before it is computed.
        if kind == "var", beforeValue.contains("{"), !beforeValue.contains("didSet"), !beforeValue.contains("willSet") {
            return 0
        }
        // `let a, b: T` and `let a: T, b: U`; commas in brackets separate something else.
        var depth = 0
        var count = 1
        for character in beforeValue {
            switch character {
            case "(", "[", "<": depth += 1
            case ")", "]", ">": depth -= 1
            case "," where depth == 0: count += 1
            default: break
            }
        }
        return count
    }
}
