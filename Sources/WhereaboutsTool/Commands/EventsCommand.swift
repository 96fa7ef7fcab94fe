import JSON
import Replies
import Whereabouts
import WhereaboutsClient

/// `events`: prints the log, one JSON line for each event.
enum EventsCommand {
    private static let after = Options.number("after", "N", in: 0...Int64.max, help: "only events after this number")
    private static let kind = Options.text("kind", "K", help: "only this kind, for example FixReported")
    private static let follow = Option.flag("follow", help: "keep printing new events")
    private static let asStored = Option.flag("as-stored", help: "bodies as stored, in hex, without decrypting them")
    /// The service answers within this many seconds if there are no events.
    private static let waitSeconds = 25

    static let command = Command(
        words: ["events"], summary: "Print the events of the log, one JSON line each.",
        accepts: [after, kind, Options.person, follow, asStored, Options.purpose],
        details: "Decrypting a person's events is a read of their data and is recorded.", run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        try House.withClient(invocation) { client throws(ToolError) in
            let isFollowing = invocation.has(follow)
            if isFollowing && !client.service.transport.isRunningService {
                throw .data("No service runs on this data directory, so there will be no new events; omit --follow.")
            }
            var query: [(name: String, value: String)] = []
            if let kind = invocation[kind] { query.append(("kind", kind)) }
            if let person = invocation[Options.person] { query.append(("person", person.text)) }
            if invocation.has(asStored) { query.append(("asStored", "true")) }
            query.append(("limit", "1000"))
            if isFollowing { query.append(("wait", "\(waitSeconds)")) }
            var after = invocation[after] ?? 0
            // Each read is recorded, so reading page by page without an end would never stop.
            var end: Int64?
            while true {
                let page = try client.get(APIPath.events.parts(), query: query + [("after", "\(after)")])
                    .read(Page<JSONValue>.self)
                if !isFollowing && end == nil { end = page.end.asOf.number }
                for event in page.items where try event.read(EventHead.self).number <= end ?? .max {
                    invocation.console.result(event.jsonLine)
                }
                if isFollowing { invocation.console.flush() }
                guard let next = page.end.next?.number else { return }
                guard isFollowing || (next > after && next < end ?? .max) else { return }
                after = max(after, next)
            }
        }
    }
}
