import JSON
import Log
import Service
import Whereabouts

/// `export --person P`: all data about a person, for the person (GDPR, articles 15 and 20).
enum ExportCommand {
    static let command = Command(
        words: ["export"], summary: "Write all data about a person as one JSON document.",
        requires: [Options.person, Options.purpose],
        details: """
            Every read of it is on the person's record, with the purpose, before its bytes leave. The document grows with the
            track: send it to a file. Its fixes can be imported again.
            """, run: run)

    /// The members of the document: the lists `/v1/people/P/…` with these names.
    static let lists: [(member: String, path: String)] = [
        ("fixes", "track"), ("visits", "visits"), ("trips", "trips"), ("crossings", "crossings"),
        ("places", "places"), ("regions", "regions"), ("corrections", "corrections"), ("schedules", "schedules"),
        ("devices", "devices"), ("grants", "grants"), ("invitations", "invitations"), ("pauses", "pauses"),
        ("tokens", "tokens"), ("webhooks", "webhooks"), ("asked", "asked"), ("findings", "findings"),
        // The last one, because it includes this export.
        ("audit", "audit"),
    ]

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let console = invocation.console
        try House.withClient(invocation) { client throws(ToolError) in
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("person", person.text)
            writer.field("exportedAt", Timestamp.now.milliseconds / 1000)
            writer.endObject()
            console.result(writer.bytes.dropLast())
            for (member, path) in lists {
                console.result(",\n\"\(member)\":[".utf8)
                var count = 0
                // The audit includes the reads of this export so far.
                let head = try client.waitingForEarlierCommands()
                try client.pages("v1", "people", person.text, path, query: head) { items in
                    for item in items {
                        console.result((count > 0 ? ",\n" : "\n").utf8)
                        console.result(item.jsonLine.dropLast())
                        count += 1
                    }
                }
                console.result("]".utf8)
            }
            console.result("}\n".utf8)
        }
    }
}
