import HTTPInterface
import Replies
import Whereabouts

extension SessionEndpoints {
    /// Signing in to the web page.
    package var operations: [Operation] {
        [
            Operation(
                "GET", "/session", .answer(read),
                group: .page, summary: "Read who is signed in.",
                description:
                    "The rights of the page's cookie, or of the token that is sent. `person` is null for the operator, and for the viewer of a share link, which `link` describes. `log` is the origin of the person's own log, which its checkpoints begin with. The answer is 204 without a session.",
                access: .page, discloses: .names("The handle of the caller who is signed in."),
                otherStatuses: [(204, "No one is signed in.")],
                answer: Operation.Answer(
                    Schema.object(
                        [
                            "person": Schema.orNull(Schema.handle), "handle": Schema.text, "operator": Schema.boolean,
                            "log": Schema.orNull(Schema.text), "scopes": Schema.list(Schema.text),
                            "expires": Schema.orNull(Schema.time),
                            "language": Schema.word("en", "de"), "assets": Schema.text, "demo": Schema.boolean,
                        ],
                        optional: [
                            "link": Schema.object([
                                "person": Schema.handle, "history": Schema.boolean, "live": Schema.boolean,
                            ])
                        ]), named: "Session"),
                bodyBytes: 0),
            Operation(
                "POST", "/session", .answer(open),
                group: .page, summary: "Sign in.",
                description:
                    "With a token, a one-time code, or a share link with its passphrase, as JSON or as a form. Sets the cookie `whereabouts_session`; a form is answered with 303 to `next`. Every wrong token or code gets the same 401, every link that shows nothing the same 404, and many of them 429. A sign-in from another page's form is refused with 403.",
                access: .anybody, discloses: .command,
                body: Operation.Body(
                    Schema.body(
                        optional: [
                            "token": Schema.text, "code": Schema.text, "link": Schema.text, "passphrase": Schema.text,
                            "next": Schema.text,
                        ]),
                    named: "SignIn", example: ["token": "example-token"],
                    types: ["application/json", "application/x-www-form-urlencoded"]),
                otherStatuses: [(303, "A form is answered with the way to `next`.")],
                answer: Operation.Answer(Schema.object(["next": Schema.text]), named: "SignedIn")),
            Operation(
                "DELETE", "/session", .answer(close),
                group: .page, summary: "Sign out.",
                description: "Ends the session of the cookie that the request has.", access: .token([]),
                discloses: .command,
                query: [.everywhere], status: 204),
            Operation(
                "POST", "/session/end", .answer(end),
                group: .page, summary: "Sign out by a form.",
                description:
                    "As `DELETE /session`, for pages without scripts: a browser that sends a form gets 303 to `/`.",
                access: .token([]), discloses: .command, query: [.everywhere], status: 204,
                otherStatuses: [(303, "A browser's form is answered with the way to the first page.")]),
            .change(
                APIPath.linkOpenings.text, openLink,
                group: .sharing, summary: "Open a share link.",
                description:
                    "Without a token. `link` is the secret of a link or its whole address. The answer has a token with the scope `query` for the routes of `person`. The opening is in the person's audit, as is each reading. A link that is wrong, unknown, ended or used, and one that needs another passphrase, get the same 404, and many of them 429.",
                access: .anybody, discloses: .command,
                body: Operation.Body(
                    Schema.body(["link": Schema.text], optional: ["passphrase": Schema.text]), named: "LinkOpening"),
                answer: Operation.Answer(Schema.made(OpenedLink.self), named: "OpenedLink")),
            .change(
                APIPath.signInCodes.text, makeCode,
                group: .page, summary: "Create a one-time code for the page.",
                description:
                    "For yourself, or as the operator for anyone. Needs the scope `manage`. The code opens one session within 15 minutes and replaces an earlier code that is unused. Opening `path` shows a button; only the button uses the code.",
                access: .token(.manage), discloses: .command,
                body: Operation.Body(
                    Schema.body(optional: ["person": Schema.handle]), named: "NewSignInCode", example: ["person": "ben"]
                ),
                answer: Operation.Answer(
                    Schema.made(MadeSignInCode.self), named: "SignInCode")),
        ]
    }
}

extension Operation.Parameter {
    static let everywhere = Self(
        name: "everywhere", schema: Schema.boolean,
        description: "Ends all sessions of the caller, and codes that are not used yet.")
}
