import Glibc
import TestSupport
import Testing

/// What the article shows is what a package outside may write.
@Suite struct ArticleTests {
    @Test(
        .enabled(
            if: getenv("WHEREABOUTS_LONG").map { String(cString: $0) } == "1",
            "A package outside builds its dependencies anew, which takes minutes: WHEREABOUTS_LONG=1."))
    func `a package outside asks by the article's own code`() throws {
        let article = "AskFromYourServer"
        let folder = TemporaryFolder()
        try #require(mkdir(folder.file("Sources"), 0o700) == 0 && mkdir(folder.file("Sources/Dinner"), 0o700) == 0)
        let name = Repository.root.split(separator: "/").last ?? ""
        let manifest = try #require(try Repository.blocks(of: article, "swift Package.swift").first)
            .replacing("../whereabouts", with: Repository.root).replacing("\"whereabouts\"", with: "\"\(name)\"")
        try folder.write(manifest, to: "Package.swift")
        let code = try Repository.blocks(of: article)
        #expect(code.count == 3)
        try folder.write(
            "import WhereaboutsClient\n\n\(code.joined(separator: "\n"))", to: "Sources/Dinner/Dinner.swift")
        try folder.write(
            "print(try await whereabouts(of: \"anna\", askedBy: \"wp_\"))\n", to: "Sources/Dinner/main.swift")
        let build = Foreign.run("swift build --package-path '\(folder.path)' --quiet 2>&1")
        #expect(build.status == 0, "\(build.output.suffix(2000))")
    }
}
