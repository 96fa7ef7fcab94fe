import JSON
import Service
import TestSupport
import Testing

@testable import WhereaboutsTool

/// The output of the tool under a grant of place names.
@Suite struct PlaceNameCommandTests {
    private let folder = TemporaryFolder()

    private func tool(_ arguments: String...) -> (exitCode: Int32, results: String, notes: String) {
        let screen = Screen()
        let exitCode = Program.run(["--data", folder.path + "/state"] + arguments, console: screen.console)
        return (exitCode, screen.results, screen.notes)
    }

    /// Anna has been at a spot of the open Atlantic that she calls Home.
    init() throws {
        let lines = (0..<120).map { minute in
            #"{"user":"anna","timestamp":\#(1_704_067_200 + 60 * minute),"latitude":30.0051,"longitude":-40.0051}"#
        }
        let file = try folder.write(lines.joined(separator: "\n") + "\n", to: "stay.jsonl")
        #expect(tool("import", "--format", "fixes", file).exitCode == 0)
        let named = tool(
            "correction", "add", "--person", "anna", "--name", "Home", "--at", "30.0051,-40.0051")
        #expect(named.exitCode == 0, "\(named.notes)")
        #expect(tool("person", "add", "ben").exitCode == 0)
        let granted = tool("grant", "add", "--person", "anna", "--requester", "ben", "--precision", "place")
        #expect(granted.exitCode == 0, "\(granted.notes)")
    }

    @Test func `a location is a name without a coordinate, and so is its line in the audit`() throws {
        let shown = tool("location", "--person", "anna", "--as", "ben")
        #expect(shown.exitCode == 0 && shown.results.hasPrefix("Home"), "\(shown.results)\(shown.notes)")
        #expect(shown.results.contains("(the name alone is shown)") && !shown.results.contains("30.0"))
        let bytes = tool("location", "--person", "anna", "--as", "ben", "--json")
        #expect(try json(bytes.results)["location"]?["place"]?["name"]?.string == "Home")
        #expect(!bytes.results.contains("latitude") && !bytes.results.contains("30.0"), "\(bytes.results)")
        let audit = tool("audit", "--person", "anna")
        #expect(audit.exitCode == 0 && audit.results.contains("ben"), "\(audit.results)")
    }

    @Test func `an export as such a reader is refused in one sentence`() {
        let refused = tool(
            "export", "--person", "anna", "--as", "ben", "--purpose", "for my map", "--format", "gpx")
        #expect(refused.exitCode != 0 && refused.results.isEmpty, "\(refused.results)")
        #expect(refused.notes.contains("There is no such person."), "\(refused.notes)")
    }
}
