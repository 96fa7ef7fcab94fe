import Testing
import Whereabouts

@testable import WhereaboutsTool

@Suite struct ArgumentParserTests {
    private func parse(_ arguments: String...) throws -> Invocation {
        let parsed = try ArgumentParser(commands: CommandTable.all).parse(arguments, console: Screen().console)
        guard case .invocation(let invocation) = parsed else { throw ToolError.usage("This is no invocation.") }
        return invocation
    }

    @Test func `options stand before, between and after what a command takes`() throws {
        let invocation = try parse("--data", "/d", "import", "--person", "anna", "a.gpx", "--json", "b.gpx")
        #expect(invocation.command.name == "import")
        #expect(invocation.operands == ["a.gpx", "b.gpx"])
        #expect(invocation[GlobalOptions.data] == "/d")
        #expect(invocation[Options.person]?.text == "anna")
        #expect(invocation.has(Options.json))
        #expect(invocation[Options.device] == nil)
    }

    @Test func `a value may stand behind an equals sign, and may contain one`() throws {
        #expect(try parse("visits", "--person=anna", "--purpose=a=b")[Options.purpose] == "a=b")
    }

    @Test func `a former name of an option is accepted, once with its name, and shown in no help`() throws {
        for name in ["--person", "--subject"] {
            #expect(try parse("grant", "list", name, "anna").required(Options.person).text == "anna")
        }
        #expect(throws: ToolError.usage("--person is given twice.")) {
            try parse("grant", "list", "--person", "anna", "--subject", "ben")
        }
        #expect(throws: ToolError.self) { try parse("visits", "--subject", "anna") }
        let help = whereabouts("grant", "add", "--help").results
        #expect(help.contains("--person HANDLE") && !help.contains("subject HANDLE"))
    }

    @Test func `a southern coordinate is no option`() throws {
        #expect(try parse("geocode", "reverse", "-33.87,151.2").operands == ["-33.87,151.2"])
        _ = try parse("region", "add", "--person", "anna", "--id", "home", "--circle", "-33.87,-151.2,100")
    }

    @Test func `after two dashes nothing is an option`() throws {
        #expect(try parse("import", "--", "--person").operands == ["--person"])
    }

    @Test func `a group with a member of one word means that one`() throws {
        #expect(try parse("projections", "--json").command.name == "projections")
        #expect(try parse("projections", "rebuild", "timeline").command.name == "projections rebuild")
    }

    @Test(arguments: [
        (["prson", "list"], "There is no command \"prson\"; the nearest is \"person\"."),
        (["person", "lst"], "There is no command \"person lst\"; the nearest is \"list\"."),
        (["person"], "Use one of \"person add\", \"person list\", \"person remove\", \"person schedule\"."),
        (["correct"], "There is no command \"correct\"; the nearest is \"correction\"."),
        (["zzzzzz"], "There is no command \"zzzzzz\"; \"whereabouts --help\" lists them."),
        (
            ["grant", "zzzzzz"],
            "There is no command \"grant zzzzzz\"; \"whereabouts grant --help\" lists them."
        ),
        (
            ["grant", "list", "--zzzzzz"],
            "There is no option \"--zzzzzz\" here; \"whereabouts grant list --help\" lists them."
        ),
        (
            ["visits", "--person", "anna", "--form", "1"],
            "There is no option \"--form\" here; the nearest is \"--from\"."
        ),
        (["visits"], "\"visits\" needs --person HANDLE."),
        (["visits", "--person"], "--person needs a value: --person HANDLE."),
        (["visits", "--person", "--json"], "--person needs a value: --person HANDLE."),
        (["visits", "--person", "anna", "--person", "ben"], "--person is given twice."),
        (["visits", "--person", "anna", "--json=yes"], "--json takes no value."),
        (["visits", "--person", "anna", "now"], "\"visits\" takes no \"now\"; see \"whereabouts visits --help\"."),
        (["person", "add"], "\"person add\" needs HANDLE."),
        (["import"], "\"import\" needs FILE…."),
        (["events", "--after", "-1"], "--after must be a whole number from 0 to 9223372036854775807."),
        (
            ["visits", "--person", "anna", "--from", "2026-02-30"],
            "--from must be a time, for example 2026-05-01, 2026-05-01T08:00, yesterday or -2h, or Unix seconds."
        ),
        (
            ["grant", "add", "--person", "a", "--requester", "b", "--precision", "street"],
            "--precision must be one of exact, kilometer, city, place, none."
        ),
        (
            ["visits", "--person", "Anna"],
            "--person must be 1 to 63 of a-z, 0-9, \".\", \"_\" and \"-\", beginning with a letter or digit, for example anna."
        ),
    ])
    func `a wrong line is named in one sentence`(arguments: [String], sentence: String) throws {
        let screen = Screen()
        #expect(Program.run(arguments, console: screen.console) == 2)
        #expect(screen.notes == "whereabouts: \(sentence)\n")
        #expect(screen.results.isEmpty)
    }

    @Test func `each command's help names each option that it can use`() {
        for command in CommandTable.all {
            let screen = Screen()
            #expect(Program.run(command.words + ["--help"], console: screen.console) == 0)
            for option in command.usefulOptions { #expect(screen.results.contains("--\(option.name)")) }
            #expect(screen.results.split(separator: "\n").allSatisfy { $0.count <= 120 })
        }
    }

    @Test func `the tool's help names every command`() {
        let (exitCode, results, _) = whereabouts("--help")
        #expect(exitCode == 0)
        for command in CommandTable.all { #expect(results.contains("  \(command.name) ")) }
    }

    /// Counted by hand.
    @Test(arguments: [
        ("form", "from", 1), ("", "abc", 3), ("person", "prson", 1), ("kitten", "sitting", 3), ("a", "a", 0),
    ])
    func `a swap of neighbours is one step`(one: String, other: String, steps: Int) {
        #expect(editDistance(one, other) == steps)
    }
}
