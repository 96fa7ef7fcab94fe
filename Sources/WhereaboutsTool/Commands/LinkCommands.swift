import Glibc
import JSON
import QRCode
import Replies
import Whereabouts

/// `link add|list|end`: addresses that show a person to people without an account.
enum LinkCommands {
    private static let length = Options.duration(
        "for", help: "the link ends after this long, for example 2h (default: a day)")
    private static let precision = Options.choice(
        "precision", ["exact", "kilometer", "city", "place"],
        help: "the precision; place shows only a name (default: exact)")
    private static let history = Options.time(
        "history", help: "show the way since then too, for example today; only for an exact link")
    private static let live = Option.flag(
        "live", help: "show new locations until the link ends, not only for 10 minutes")
    private static let times = Options.number(
        "times", "N", in: 1...Limits.linkOpeningsMax, help: "the most openings (default: any number)")
    private static let passphrase = Option.flag(
        "passphrase", help: "opening needs a passphrase, read from the first line of the input")
    private static let name = Options.text("name", "TEXT", help: "a name for your audit; viewers do not see it")

    static let all = [
        Command(
            words: ["link", "add"], summary: "Make an address that shows a person to viewers without an account.",
            requires: [Options.person],
            accepts: [length, Options.until, precision, history, live, times, passphrase, name, Options.json],
            details: """
                Every viewer with the address sees the person until the link ends: send it only to those who may. Each opening and
                each look is in the audit, with the link as the requester. "link end" ends it at once.

                \(Options.timesHelp)
                """, run: add),
        Command(
            words: ["link", "list"], summary: "List a person's share links, and how often they were opened.",
            requires: [Options.person], accepts: [Options.json], run: list),
        Command(
            words: ["link", "end"], summary: "End a share link at once, also for viewers who have opened it.",
            operands: .one("NUMBER"), accepts: [Options.json],
            run: { (invocation) throws(ToolError) in
                let number = try invocation.number()
                try invocation.remove("the link \(number)", APIPath.link.parts(number))
            }),
    ]

    private static func add(_ invocation: Invocation) throws(ToolError) {
        guard invocation[length] == nil || invocation[Options.until] == nil else {
            throw .usage("Give --for or --until, not both.")
        }
        var phrase: String?
        if invocation.has(passphrase) {
            invocation.console.note("Passphrase:")
            guard let line = readLine(), !line.isEmpty else {
                throw .usage("--passphrase reads the passphrase from the first line of the input, which is empty.")
            }
            phrase = line
        }
        let person = invocation.required(Options.person)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.peopleLinks.parts(person.text)) { body in
                body.field("precision", invocation[precision])
                if let from = invocation[history] {
                    body.field("history", true)
                    body.field("from", milliseconds: from.milliseconds)
                }
                body.field("forSeconds", invocation[length])
                body.field("until", milliseconds: invocation[Options.until]?.milliseconds)
                body.field("live", invocation.has(live))
                body.field("openings", invocation[times])
                body.field("passphrase", phrase)
                body.field("name", invocation[name])
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let made = try answer.read(MadeLink.self)
        let address = try DeviceCommands.publicURL(invocation) + made.path
        invocation.console.line(
            """
            \(address)
            \(person.text) is shown until \(ReadCommands.time(made.until)), in the audit as "\(made.name)".
            The address is not shown again; "link end \(made.id.text)" ends it.
            """)
        if isatty(STDOUT_FILENO) != 0, let code = QRSymbol(address) {
            invocation.console.line(code.text(colored: true))
        }
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let links = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.peopleLinks.parts(person.text))
        }
        let table = Table(">LINK", "NAME", "STATE", "PRECISION", "SHOWS", "UNTIL", ">OPENED", ">OF", "LAST OPENED")
        let sentence = "\(person.text) has no share links."
        try invocation.show(links, as: "links", in: table, orElse: sentence) { (link: LinkItem) in
            let shows = [
                link.history == true ? "history" : "", link.isLive ? "live" : "10 minutes",
                link.hasPassphrase ? "passphrase" : "",
            ]
            return [
                link.id.text, link.name, link.state, link.precision ?? "",
                shows.filter { !$0.isEmpty }.joined(separator: ", "), link.until.map { ReadCommands.time($0) } ?? "",
                Text.count(Int(link.opened)), link.openings.map { Text.count(Int($0)) } ?? "",
                link.lastOpened.map { ReadCommands.time($0) } ?? "",
            ]
        }
    }
}
