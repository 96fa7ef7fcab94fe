import Foundation
import TestSupport
import Testing

@testable import WhereaboutsTool

@Suite struct VerifyCommandTests {
    @Test func `verify shows its progress on a terminal and nothing in a pipe`() throws {
        let folder = TemporaryFolder()
        #expect(whereabouts("--data", folder.path, "person", "add", "anna").exitCode == 0)
        let command = ["--data", folder.path, "verify"]

        let terminal = Screen()
        #expect(Program.run(command, console: terminal.console(showsProgress: true)) == 0)
        // Each text replaces the line; the last is empty.
        let lines = terminal.notes.components(separatedBy: "\r\u{1B}[K")
        #expect(lines.count >= 3 && lines[0].isEmpty && lines.last?.isEmpty == true)
        #expect(lines.dropFirst().dropLast().allSatisfy { $0.hasPrefix("Verifying") && $0.hasSuffix(" s …") })

        let pipe = Screen()
        #expect(Program.run(command, console: pipe.console) == 0)
        #expect(pipe.notes.isEmpty)
        #expect(pipe.results == terminal.results)
    }
}
