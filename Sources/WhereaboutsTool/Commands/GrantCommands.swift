import JSON
import Replies
import Whereabouts

/// `grant add|list|remove`, `invitation add|list|remove|redeem`.
enum GrantCommands {
    private static let subject = Options.handle("person", formerName: "subject", help: "whose location")
    private static let requester = Options.handle("requester", help: "who may ask for it")
    private static let precision = Options.choice(
        "precision", ["exact", "kilometer", "city", "place", "none"],
        help: "the precision; place shows only a name, none refuses")
    private static let history = Option.flag("history", help: "allow reading the past, not only the present")
    private static let askEachTime = Option.flag(
        "ask-each-time", help: "the subject must consent to each question; excludes --history")
    private static let hours = Options.text(
        "hours", "HOURS", help: "only in these hours, for example \"Mo-Fr 08:00-18:00; Sa 10:00-12:00\"")
    private static let timeZone = Options.text(
        "time-zone", "ZONE", help: "the time zone of the hours, for example Europe/Vienna")
    private static let length = Options.duration("for", help: "valid for this long, for example 90m, 8h or 7d")
    private static let expires = Options.time("expires", help: "the code works until then (default: for a day)")
    private static let redeemer = Options.handle("as", help: "who uses the code")

    private static let limits: [any OptionDeclaration] = [
        Options.time("from", help: "valid from this time (default: now)"),
        Options.time("until", help: "valid until this time (default: for 30 days; a year at most)"),
    ]
    private static let terms: [any OptionDeclaration] = [history, askEachTime, hours, timeZone] + limits
    private static let details = """
        HOURS have the form of opening hours in OpenStreetMap, in the local time of the zone. An hour skipped when summer
        time begins is not granted; an hour repeated when it ends is granted twice.

        \(Options.timesHelp)
        """

    static let all = [
        Command(
            words: ["grant", "add"], summary: "Let one person ask where another is.",
            requires: [subject, requester, precision], accepts: terms + [length, Options.json], details: details,
            run: add),
        Command(
            words: ["grant", "list"], summary: "List who may ask where a person is.", requires: [subject],
            accepts: [Options.json], run: list),
        Command(
            words: ["grant", "remove"], summary: "End a grant.", operands: .one("NUMBER"), accepts: [Options.json],
            run: { (invocation) throws(ToolError) in
                let number = try invocation.number()
                try invocation.remove("the grant \(number)", APIPath.grant.parts(number))
            }),
        Command(
            words: ["invitation", "add"], summary: "Create a code that gives one person a grant.",
            requires: [subject, precision], accepts: terms + [expires, Options.json], details: details, run: invite),
        Command(
            words: ["invitation", "list"], summary: "List a person's open invitations.", requires: [subject],
            accepts: [Options.json], run: listInvitations),
        Command(
            words: ["invitation", "remove"], summary: "Withdraw an invitation: its code stops working.",
            operands: .one("NUMBER"),
            accepts: [Options.json],
            run: { (invocation) throws(ToolError) in
                let number = try invocation.number()
                try invocation.remove("the invitation \(number)", APIPath.invitation.parts(number))
            }),
        Command(
            words: ["invitation", "redeem"], summary: "Use an invitation's code to get its grant.",
            operands: .one("CODE"),
            requires: [redeemer], accepts: [Options.json], run: redeem),
    ]

    private static func write(_ invocation: Invocation, into body: inout JSONWriter) {
        body.field("precision", invocation.required(precision))
        body.field("history", invocation.has(history))
        body.field("asksEachTime", invocation.has(askEachTime))
        body.field("from", milliseconds: invocation[Options.from]?.milliseconds)
        body.field("until", milliseconds: invocation[Options.until]?.milliseconds)
        guard let weekly = invocation[hours] else { return }
        body.object("hours") { body in
            body.field("weekly", weekly)
            body.field("timeZone", invocation[timeZone])
        }
    }

    private static func requireZone(_ invocation: Invocation) throws(ToolError) {
        guard (invocation[hours] == nil) == (invocation[timeZone] == nil) else {
            throw .usage("--hours and --time-zone must be given together.")
        }
    }

    private static func add(_ invocation: Invocation) throws(ToolError) {
        try requireZone(invocation)
        let subject = invocation.required(Self.subject)
        let requester = invocation.required(Self.requester)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.peopleGrants.parts(subject.text)) { body in
                body.field("requester", requester.text)
                write(invocation, into: &body)
                body.field("forSeconds", invocation[length])
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let made = try answer.read(MadeGrant.self)
        let until = made.until.map { " until \(ReadCommands.time($0))" } ?? ""
        invocation.console.line("Grant \(made.id.text): \(requester.text) may ask where \(subject.text) is\(until).")
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let subject = invocation.required(Self.subject)
        let grants = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.peopleGrants.parts(subject.text))
        }
        let table = Table(">GRANT", "REQUESTER", "PRECISION", "HISTORY", "ASKS", "FROM", "UNTIL", "HOURS")
        let sentence = "No one may ask where \(subject.text) is."
        try invocation.show(grants, as: "grants", in: table, orElse: sentence) { (grant: GrantItem) in
            let terms = grant.terms
            return [
                grant.id.text, grant.requester ?? "", terms.precision, terms.history ? "yes" : "no",
                terms.asksEachTime ? "each time" : "", terms.from.map { ReadCommands.time($0) } ?? "",
                terms.until.map { ReadCommands.time($0) } ?? "", hoursText(terms),
            ]
        }
    }

    private static func hoursText(_ terms: TermsItem) -> String {
        terms.hours.map { "\($0.weekly), \($0.timeZone)" } ?? ""
    }

    private static func invite(_ invocation: Invocation) throws(ToolError) {
        try requireZone(invocation)
        let subject = invocation.required(Self.subject)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.peopleInvitations.parts(subject.text)) { body in
                write(invocation, into: &body)
                body.field("expires", milliseconds: invocation[expires]?.milliseconds)
            }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let made = try answer.read(MadeInvitation.self)
        let until = ReadCommands.time(made.expires)
        invocation.console.line("\(made.code)\nThe first person to use this code before \(until) gets the grant.")
    }

    private static func listInvitations(_ invocation: Invocation) throws(ToolError) {
        let subject = invocation.required(Self.subject)
        let invitations = try House.withClient(invocation) { client throws(ToolError) in
            try client.items(APIPath.peopleInvitations.parts(subject.text))
        }
        let table = Table(">INVITATION", "EXPIRES", "PRECISION", "HISTORY", "ASKS", "HOURS")
        let sentence = "There is no open invitation."
        try invocation.show(invitations, as: "invitations", in: table, orElse: sentence) { (item: InvitationItem) in
            [
                item.id.text, ReadCommands.time(item.expires), item.terms.precision, item.terms.history ? "yes" : "no",
                item.terms.asksEachTime ? "each time" : "", hoursText(item.terms),
            ]
        }
    }

    private static func redeem(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(redeemer)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            let own = try client.acting(as: person, scopes: ["query"], seconds: AskCommand.tokenSeconds)
            return try own.post(APIPath.redemptions.parts()) { $0.field("code", invocation.operands[0]) }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line("\(person.text) may ask where \(try answer.read(RedeemedItem.self).subject) is.")
    }
}
