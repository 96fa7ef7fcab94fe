import JSON
import Whereabouts

/// `account invite|list|remove|open`.
enum AccountCommands {
    private static let expires = Options.time("expires", help: "the code is good until then (default: for a day)")
    private static let name = Options.handle("name", "NAME", help: "what to be called; four characters are added")

    static let all = [
        Command(
            words: ["account", "invite"], summary: "Make a code that gives an account to whoever shows it first.",
            accepts: [expires, Options.json], details: Options.timesHelp, run: invite),
        Command(
            words: ["account", "list"], summary: "List the operator's invitations that are open.",
            accepts: [Options.json], run: list),
        Command(
            words: ["account", "remove"], summary: "Make an invitation's code worthless.", operands: .one("NUMBER"),
            accepts: [Options.json],
            run: { (invocation) throws(ToolError) in
                let number = try invocation.number()
                try invocation.remove("the invitation \(number)", "v1", "account-invitations", number)
            }),
        Command(
            words: ["account", "open"], summary: "Get an account by a code.", operands: .one("CODE"),
            requires: [name], accepts: [Options.json], run: open),
    ]

    private static func invite(_ invocation: Invocation) throws(ToolError) {
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post("v1", "account-invitations") { body in
                body.field("expires", milliseconds: invocation[expires]?.milliseconds)
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let until = answer.time("expires").map { LocalTime.text($0) } ?? "?"
        invocation.console.line(
            "\(answer.text("code"))\nWhoever shows this code first, until \(until), gets an account.")
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let invitations = try House.withClient(invocation) { client throws(ToolError) in
            try client.items("v1", "account-invitations")
        }
        var table = Table(">INVITATION", "EXPIRES")
        for invitation in invitations {
            table.add(
                invitation["id"]?.int.map { "\($0)" } ?? "",
                invitation.time("expires").map { LocalTime.text($0) } ?? "")
        }
        invocation.show(invitations, as: "invitations", table, orElse: "No invitation is open.")
    }

    private static func open(_ invocation: Invocation) throws(ToolError) {
        let name = invocation.required(name)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post("v1", "accounts") { body in
                body.field("code", invocation.operands[0])
                body.field("name", name.text)
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line(
            "You are \(answer.text("handle")). Your token, shown this once: \(answer.text("token"))")
    }
}
