import Answers
import HTTPInterface
import Replies
import Whereabouts

extension LinkEndpoints {
    /// Share links; `POST /v1/link-openings` is beside the sign-in of the page.
    package var operations: [Operation] {
        [
            .change(
                APIPath.peopleLinks.text, add,
                group: .sharing, summary: "Add a share link.",
                description:
                    "For the person (scope `manage`) or the operator. Every viewer with the address sees the person, without an account, until the link ends: after a day if no end is given. Each opening and each reading is in the audit, with `name` as the requester. A link that is not `live` shows the location for 10 minutes after it is opened; `openings` limits how often it is opened. `secret` and `path` are shown only once; `path` belongs behind the address of the page.",
                access: .token(.manage), discloses: .command,
                body: Operation.Body(
                    Schema.body(
                        optional: [
                            "precision": Schema.word("exact", "kilometer", "city", "place"), "history": Schema.boolean,
                            "from": Schema.timeGiven, "until": Schema.timeGiven,
                            "forSeconds": Schema.integer(1...Limits.longestGrantSeconds), "live": Schema.boolean,
                            "openings": Schema.integer(1...Limits.linkOpeningsMax), "passphrase": Schema.text,
                            "name": Schema.text,
                        ]), named: "NewLink", example: ["forSeconds": 7200, "live": true, "name": "for the party"]),
                answer: Operation.Answer(Schema.made(MadeLink.self), named: "AddedLink")),
            .settings(
                APIPath.peopleLinks.text, list,
                group: .sharing, summary: "List a person's share links.",
                description:
                    "For the person (scope `manage`) or the operator, also those that have ended. Secrets are not shown.",
                access: .token(.manage), discloses: .settings,
                items: Schema.object(of: LinkItem.self),
                named: "Link"),
            .command(
                "DELETE", APIPath.link.text, decisions.done(by: end),
                group: .sharing, summary: "End a share link.",
                description:
                    "For the person (scope `manage`) or the operator. Viewers who have opened the link see nothing from then on.",
                access: .token(.manage)),
        ]
    }
}
