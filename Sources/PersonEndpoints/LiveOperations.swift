import HTTPInterface
import Replies
import Whereabouts

extension LiveEndpoint {
    /// The caller's own feed.
    package var operations: [Operation] {
        [
            Operation(
                "GET", APIPath.live.text, .recorded(open),
                group: .stored,
                summary: "Follow your own feed, or the person of a live share link, as server-sent events.",
                description:
                    "Needs the person's own token with the scope `audit`. A client that sends the last `id` in `Last-Event-ID` gets every event since, at least once. Each batch is recorded as a read before it is sent. The token of a live share link (`POST /v1/link-openings`) gets events `location` instead, the first one at once; the stream ends with the link.",
                access: .token(.audit), discloses: .recorded(.live), answerTypes: ["text/event-stream"], hasNames: true)
        ]
    }
}
