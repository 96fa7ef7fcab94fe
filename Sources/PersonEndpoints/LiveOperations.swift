import HTTPInterface
import Replies
import Whereabouts

extension LiveEndpoint {
    /// The caller's own feed.
    package var operations: [Operation] {
        [
            Operation(
                "GET", APIPath.live.text, .recorded(open),
                group: .stored, summary: "Follow your own feed as server-sent events.",
                description:
                    "Needs the person's own token with the scope `audit`. A client that sends the last `id` in `Last-Event-ID` gets every event since, at least once. Each batch is recorded as a read before it is sent.",
                access: .token(.audit), discloses: .recorded(.live), answerTypes: ["text/event-stream"], hasNames: true)
        ]
    }
}
