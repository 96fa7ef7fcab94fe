import Glibc

/// The folders of this repository, and optional ones beside it.
package enum Repository {
    package static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    /// The command `whereabouts` beside the program that runs these tests; `nil` when it was not built.
    package static let tool: String? = {
        guard let program = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(program) }
        let folder = String(cString: program).split(separator: "/").dropLast().joined(separator: "/")
        return access("/\(folder)/whereabouts", X_OK) == 0 ? "/\(folder)/whereabouts" : nil
    }()

    /// A published vector, or a script that asks another program, under `Tests/Conformance`.
    package static func conformance(_ name: String) -> String { "\(root)/Tests/Conformance/\(name)" }

    /// The lines of a table under `Tests/Conformance`, without comments and empty ones.
    package static func rows(of table: String) throws -> [Substring] {
        try String(decoding: contents(ofFile: conformance(table)), as: UTF8.self)
            .split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    /// The blocks of code of one kind in an article of the documentation catalog.
    package static func blocks(of article: String, _ kind: String = "swift") throws -> [String] {
        let page = String(
            decoding: try contents(ofFile: "\(root)/Sources/Whereabouts/Documentation.docc/\(article).md"),
            as: UTF8.self)
        return page.split(separator: "```\(kind)\n", omittingEmptySubsequences: false).dropFirst().compactMap {
            $0.split(separator: "```", omittingEmptySubsequences: false).first.map(String.init)
        }
    }

    /// Files recorded by real clients, which are not part of this repository: the folder `WHEREABOUTS_FIXTURES` names,
    /// else `shared/fixtures` beside the repository; `nil` where they are missing.
    package static let fixtures: String? = {
        if let named = getenv("WHEREABOUTS_FIXTURES") { return String(cString: named) }
        guard let root = realpath(root, nil) else { return nil }
        defer { free(root) }
        let folder = "\(String(cString: root))/../shared/fixtures"
        return access("\(folder)/expected.json", R_OK) == 0 ? folder : nil
    }()
}
