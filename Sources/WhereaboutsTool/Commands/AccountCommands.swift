import JSON
import Replies
import Whereabouts

/// `account invite|list|remove|open`.
enum AccountCommands {
    private static let expires = Options.time("expires", help: "the code works until then (default: for a day)")
    private static let name = Options.handle(
        "name", "NAME", help: "the beginning of your handle; four characters are added")

    static let all = [
        Command(
            words: ["account", "invite"], summary: "Create a code with which one person can open an account.",
            accepts: [expires, Options.json], details: Options.timesHelp, run: invite),
        Command(
            words: ["account", "list"], summary: "List the open account invitations.",
            accepts: [Options.json], run: list),
        Command(
            words: ["account", "remove"], summary: "Withdraw an account invitation: its code stops working.",
            operands: .one("NUMBER"), accepts: [Options.json],
            run: { (invocation) throws(ToolError) in
                let number = try invocation.number()
                try invocation.remove("the invitation \(number)", APIPath.accountInvitation.parts(number))
            }),
        Command(
            words: ["account", "open"], summary: "Open an account with a code.", operands: .one("CODE"),
            requires: [name], accepts: [Options.json], run: open),
    ]

    private static func invite(_ invocation: Invocation) throws(ToolError) {
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.accountInvitations.parts()) { body in
                body.field("expires", milliseconds: invocation[expires]?.milliseconds)
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let made = try answer.read(MadeInvitation.self)
        let until = ReadCommands.time(made.expires)
        invocation.console.line("\(made.code)\nThe first person to use this code before \(until) gets an account.")
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let invitations = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.accountInvitations.parts())
        }
        let table = Table(">INVITATION", "EXPIRES")
        let sentence = "No invitation is open."
        try invocation.show(invitations, as: "invitations", in: table, orElse: sentence) {
            (item: AccountInvitationItem) in
            [item.id.text, ReadCommands.time(item.expires)]
        }
    }

    private static func open(_ invocation: Invocation) throws(ToolError) {
        let name = invocation.required(name)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.accounts.parts()) { body in
                body.field("code", invocation.operands[0])
                body.field("name", name.text)
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let account = try answer.read(OpenedAccount.self)
        invocation.console.line("You are \(account.handle). Your token, shown this once: \(account.token)")
    }
}
