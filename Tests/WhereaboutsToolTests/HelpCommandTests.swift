import Foundation
import TestProcesses
import TestSupport
import Testing

@testable import WhereaboutsTool

/// The tool's help, manual page and completions, tested with the shells that read them.
@Suite struct HelpCommandTests {
    @Test func `help shows the text of --help for every command`() {
        for command in CommandTable.all {
            let (exitCode, results, _) = whereabouts(words: ["help"] + command.words)
            #expect(exitCode == 0)
            #expect(results == whereabouts(words: command.words + ["--help"]).results)
            #expect(results.hasPrefix("whereabouts \(command.name)"))
            #expect(results.contains(command.summary))
        }
        #expect(whereabouts("help").results == whereabouts("--help").results)
        #expect(whereabouts("help", "grnt").notes.contains("the nearest is \"grant\""))
    }

    @Test func `the help of a command lists --url only if the command can reach a service elsewhere`() {
        #expect(whereabouts("help", "visits").results.contains("--url URL"))
        for command in ["backup", "verify", "doctor", "serve"] {
            let help = whereabouts("help", command).results
            #expect(!help.contains("--url") && help.contains("--data DIR"), "\(command)")
        }
        #expect(!whereabouts("help", "version").results.contains("--data"))
        #expect(whereabouts("help", "profile", "add").results.contains("--token TOKEN"))
    }

    @Test(arguments: ["version", "--version"]) func `the version is one line`(word: String) {
        #expect(whereabouts(word).results == "whereabouts \(Version.text)\n")
    }

    /// The completions that bash offers for the last word.
    private func offers(_ words: String...) throws -> Set<String> {
        let quoted = (["whereabouts"] + words).map { "'\($0)'" }.joined(separator: " ")
        let script =
            whereabouts("completion", "bash").results + """

                COMP_WORDS=(\(quoted)); COMP_CWORD=\(words.count); _whereabouts; printf '%s\\n' "${COMPREPLY[@]}"
                """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.runBounded()
        let bytes = try #require(try pipe.fileHandleForReading.readToEnd())
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return Set(String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    @Test func `bash completes commands, verbs and options`() throws {
        #expect(try offers("vis") == ["visits"])
        #expect(try offers("--data", "/tmp", "vis") == ["visits"])
        #expect(try offers("grant", "").isSuperset(of: ["add", "list", "remove"]))
        #expect(try offers("grant", "add", "--prec") == ["--precision"])
        #expect(try offers("visits", "--person", "anna", "--fr") == ["--from"])
        #expect(try offers("serve", "--li") == ["--listen"])
        #expect(try offers("push-stand-in", "--dir") == ["--directory"])
    }

    @Test func `every command and option is in the manual page and in each completion`() {
        let manual = whereabouts("help", "--manual").results
        let fish = whereabouts("completion", "fish").results
        let bash = whereabouts("completion", "bash").results
        for command in CommandTable.all {
            #expect(manual.contains(".SS \(command.name.replacing("-", with: "\\-"))\n"))
            for option in command.options {
                #expect(manual.contains("\\-\\-\(option.name.replacing("-", with: "\\-"))"))
                #expect(fish.contains(" -l \(option.name) "))
                #expect(bash.contains("--\(option.name)"))
            }
        }
        #expect(whereabouts("completion", "tcsh").exitCode == 2)
    }
}
