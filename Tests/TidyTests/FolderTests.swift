import Testing

/// The folders of a module are rooms too: a file may name types of the same folder and of folders below. The graph is
/// read from the sources: an arrow goes from a file to the file that declares a type it names.
@Suite struct FolderTests {
    /// The folders of a module, bottom to top. The files beside them are `""`.
    private static let floors: [String: [String]] = [
        "LocationPush": ["Transport", ""],
        "Answers": ["Requests", ""],
        "HTTPInterface": ["OpenAPI", ""],
        "HouseEndpoints": ["Metrics", ""],
        "Maintenance": ["Verification", "Backup", "Shipping", "Restoring", "Moving"],
        "Replies": ["Members", ""],
        "FileFormats": ["Reading", "Layers", "Tiles", "Writing", "Text", "XML", "Binary", "JSON", "Google", ""],
        "WhereaboutsTool": ["", "Supplements", "Basemap", "Import", "Commands", "Program"],
        "Whereabouts": ["Vocabulary", "Coding", "Facts", "Folds", "Standing", "Decisions", "Disclosure"],
        "Reactors": ["Configuration", "Feed", "Webhooks", "Trackers", ""],
    ]

    /// The arrows that still point up. Each is a debt: remove the line together with the arrow, and add none.
    private static let debts: [String: Set<String>] = [
        "LocationPush": ["Transport → (top)"]
    ]

    private static func folder(of file: Tree.File) -> String {
        let parts = file.path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : ""
    }

    /// The code of a line, without its comment and its texts.
    private static func code(of line: Substring) -> String {
        var code = ""
        var isText = false
        var before: Character = " "
        for character in line {
            if isText {
                if character == "\"", before != "\\" { isText = false }
            } else if character == "\"" {
                isText = true
            } else if character == "/", before == "/" {
                code.removeLast()
                break
            } else {
                code.append(character)
            }
            before = character
        }
        return code
    }

    /// The names of types declared at the left margin.
    private static func declarations(in file: Tree.File) -> [String] {
        let kinds: Set<Substring> = ["struct", "enum", "class", "protocol", "actor", "typealias"]
        let modifiers: Set<Substring> = ["package", "public", "final", "indirect"]
        return file.lines.compactMap { line in
            guard let first = line.first, first.isLetter else { return nil }
            let words = line.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" })
                .drop(while: modifiers.contains)
            guard let kind = words.first, kinds.contains(kind) else { return nil }
            return words.dropFirst().first.map(String.init)
        }
    }

    /// The names with a capital that do not follow a period.
    private static func names(in file: Tree.File) -> Set<String> {
        var names: Set<String> = []
        for line in file.lines {
            var name = ""
            var before: Character = " "
            for character in code(of: line) + " " {
                if character.isLetter || character.isNumber || character == "_" {
                    name.append(character)
                    continue
                }
                if name.first?.isUppercase == true, before != "." { names.insert(name) }
                if !name.isEmpty || character != " " { before = character }
                name = ""
            }
        }
        return names
    }

    @Test(arguments: floors.keys.sorted()) func `a folder knows only those below it`(module: String) throws {
        let floors = try #require(Self.floors[module])
        let files = Tree.sources.filter { $0.module == module }
        var places: [String: [String]] = [:]
        for file in files {
            for name in Self.declarations(in: file) { places[name, default: []].append(Self.folder(of: file)) }
        }
        var found: Set<String> = []
        for file in files {
            let folder = Self.folder(of: file)
            guard let floor = floors.firstIndex(of: folder) else {
                Issue.record("\(file) is in a folder that has no floor.")
                continue
            }
            for name in Self.names(in: file).sorted() {
                // A name that is declared twice says nothing.
                guard let all = places[name], all.count == 1, let target = all.first, target != folder,
                    let other = floors.firstIndex(of: target), other > floor
                else { continue }
                let arrow = "\(folder) → \(target.isEmpty ? "(top)" : target)"
                found.insert(arrow)
                if Self.debts[module]?.contains(arrow) != true {
                    Issue.record("\(file) names \(name) of a folder above: \(arrow) makes a cycle.")
                }
            }
        }
        let paid = (Self.debts[module] ?? []).subtracting(found)
        #expect(paid.isEmpty, "These arrows are gone; remove them from the list.")
    }
}
