import Glibc
import TestSupport
import Testing

/// The article's code compiles as in an external package.
@Suite struct ArticleTests {
    private static let article = "AskFromYourServer"

    private static func code() throws -> String {
        let blocks = try Repository.blocks(of: article)
        #expect(blocks.count == 5)
        return "import WhereaboutsClient\n\n" + blocks.joined(separator: "\n")
    }

    /// Where the modules of this build lie.
    private static let built = Repository.tool.map { $0.split(separator: "/").dropLast().joined(separator: "/") } ?? ""

    @Test(
        .enabled(
            if: Foreign.has("swiftc") && access("/\(built)/Modules", R_OK) == 0,
            "There is no compiler, or not this build's modules."))
    func `the article's code compiles against what is public`() throws {
        let folder = TemporaryFolder()
        let file = try folder.write(try Self.code(), to: "Dinner.swift")
        let maps = names(in: "\(Repository.root)/Sources").filter { $0.hasPrefix("C") }.map {
            "-I '\(Repository.root)/Sources/\($0)'"
        }
        let support = "-Xcc '-fmodule-map-file=/\(Self.built)/CSupport.build/module.modulemap'"
        let compiled = Foreign.run(
            "swiftc -swift-version 6 -parse-as-library -module-name Dinner -c '\(file)' -o '\(folder.file("Dinner.o"))' "
                + "-I '/\(Self.built)/Modules' \(support) \(maps.joined(separator: " ")) 2>&1")
        #expect(compiled.status == 0, "\(compiled.output.suffix(2000))")
    }

    @Test(
        .enabled(
            if: isLongForm,
            "A package outside builds its dependencies anew, which takes minutes: WHEREABOUTS_LONG=1."))
    func `a package outside asks by the article's own code`() throws {
        let folder = TemporaryFolder()
        try #require(mkdir(folder.file("Sources"), 0o700) == 0 && mkdir(folder.file("Sources/Dinner"), 0o700) == 0)
        let name = Repository.root.split(separator: "/").last ?? ""
        let manifest = try #require(try Repository.blocks(of: Self.article, "swift Package.swift").first)
            .replacing("../whereabouts", with: Repository.root).replacing("\"whereabouts\"", with: "\"\(name)\"")
        try folder.write(manifest, to: "Package.swift")
        try folder.write(try Self.code(), to: "Sources/Dinner/Dinner.swift")
        try folder.write(
            "print(try await whereabouts(of: \"anna\", askedBy: \"wp_\"))\n", to: "Sources/Dinner/main.swift")
        let build = Foreign.run("swift build --package-path '\(folder.path)' --quiet 2>&1")
        #expect(build.status == 0, "\(build.output.suffix(2000))")
    }
}
