import JSON
import Replies
import Whereabouts

/// `session add`.
enum SessionCommands {
    static let all = [
        Command(
            words: ["session", "add"], summary: "Print a link that signs a browser in to the page, once.",
            accepts: [Options.person, Options.json],
            details: """
                The link works for 15 minutes, and for one browser. Without --person it signs in the operator. A new link
                replaces an earlier one that is unused.
                """, run: add)
    ]

    private static func add(_ invocation: Invocation) throws(ToolError) {
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.signInCodes.parts()) { body in
                body.field("person", invocation[Options.person]?.text)
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let code = try answer.read(MadeSignInCode.self)
        let url = try DeviceCommands.publicURL(invocation)
        invocation.console.line(
            "\(url)\(code.path)\nSigns one browser in before \(LocalTime.text(Timestamp(code.expires))).")
    }
}
