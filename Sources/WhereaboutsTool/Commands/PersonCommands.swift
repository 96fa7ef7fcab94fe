import JSON
import Replies
import Whereabouts

/// `person add|list|remove`.
enum PersonCommands {
    static let all = [
        Command(
            words: ["person", "add"], summary: "Add a person, who can ask and be asked about.",
            operands: .one("HANDLE"), accepts: [Options.json], makesInstallation: true, run: add),
        Command(
            words: ["person", "list"], summary: "List the people and their devices.", accepts: [Options.json],
            run: list),
        Command(
            words: ["person", "remove"], summary: "Erase a person from the log for good, as \"erase\" does.",
            operands: .one("HANDLE"), accepts: [EraseCommand.receipt, Options.yes, Options.json],
            details: EraseCommand.details,
            run: { (invocation) throws(ToolError) in
                try EraseCommand.erase(try invocation.handle(), invocation)
            }),
    ]

    private static func add(_ invocation: Invocation) throws(ToolError) {
        let person = try invocation.handle()
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.people.parts()) { $0.field("handle", person.text) }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line("Added the person \(person.text).")
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let people = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.people.parts())
        }
        let table = Table("PERSON", "DEVICES")
        let sentence = "There are no people yet; \"person add\" adds a person."
        try invocation.show(people, as: "people", in: table, orElse: sentence) { (person: PersonItem) in
            [person.handle, person.devices.joined(separator: " ")]
        }
    }
}
