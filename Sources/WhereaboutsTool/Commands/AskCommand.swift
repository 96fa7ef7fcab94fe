import Glibc
import JSON
import Log
import OpenedEnvelopes
import Replies
import Whereabouts
import WhereaboutsClient

/// `ask --as HANDLE --person HANDLE --purpose TEXT`: the product's main verb.
enum AskCommand {
    private static let asker = Options.handle("as", help: "who asks")
    private static let wait = Options.number(
        "wait", "SECONDS", in: 0...3600, help: "how long to wait for the answer (default: 60)")
    private static let person = Options.handle("person", help: "whose location")

    /// The token issued for one question is good this long.
    static let tokenSeconds: Int64 = 600
    /// How long one request waits for the end of the query. Between two requests the terminal shows the elapsed time.
    private static let requestSeconds: Int64 = 5
    private static let lastPauseMicroseconds: UInt32 = 200_000

    static let command = Command(
        words: ["ask"], summary: "Ask where a person is: wake the phone and wait for a fix.",
        requires: [asker, person, Options.purpose],
        accepts: [wait, SealedReads.option, Options.json, Options.languages] + Receipts.options,
        details: """
            The question, its purpose and what was shown are recorded before the answer leaves; the person can see them.
            Without an answer the exit code is 1. A phone that seals its fixes answers with an envelope, which --open-with
            opens.

            \(SealedReads.help)

            \(Receipts.help)
            """, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let waitSeconds = invocation[wait] ?? 60
        let person = invocation.required(person)
        let opener = try invocation[SealedReads.option].map { (path) throws(ToolError) in
            try SealedReads.opener(path, of: person)
        }
        // A file that cannot be used is refused before anything is asked.
        let geocoder = opener == nil ? nil : try SealedReads.geocoder(invocation)
        let earliest = Timestamp.now.adding(seconds: -Limits.defaultMaxAgeSeconds)
        let (json, answer) = try House.withClient(invocation) { client throws(ToolError) in
            var asker = try client.acting(
                as: invocation.required(asker), scopes: ["query"], seconds: max(tokenSeconds, waitSeconds + 60))
            try Receipts.keep(of: &asker, invocation)
            asker.service.receipts = asker.service.receipts.about(person.text)
            let asked = try asker.post(
                APIPath.peopleLocationQueries.parts(person.text)
            ) { body in
                body.field("purpose", invocation.required(Options.purpose))
                body.field("initiation", "user")
                // The deadline is the time to wait, but at least one second, which the service requires.
                body.field("deadlineSeconds", max(1, waitSeconds))
            }
            return try poll(try asked.read(StartedQuery.self).id, asker, waitSeconds: waitSeconds, invocation.console)
        }
        let opened = try opener.flatMap { (opener) throws(ToolError) in
            try open(answer, with: opener, notBefore: earliest, geocoder)
        }
        if let opened {
            show(opened, invocation)
        } else if invocation.has(Options.json) {
            invocation.console.result(json.jsonLine)
        } else if answer.envelope != nil {
            throw .data(
                "The answer is sealed. Ask with --open-with and the file of your keys; \"key add\" makes one.")
        } else if let location = answer.location {
            if answer.status == "answeredFromLastKnown" {
                invocation.console.line("The phone sent no new fix; this is the last known location.")
            }
            invocation.console.line(LocationText(location: location, now: .now).lines)
        }
        guard answer.location != nil || answer.envelope != nil else {
            throw .checkFailed(invocation.has(Options.json) ? nil : "There was no answer within \(waitSeconds) s.")
        }
    }

    /// The location in a sealed answer; `nil` for another answer.
    private static func open(
        _ answer: QueryAnswer, with opener: EnvelopeOpener, notBefore earliest: Timestamp, _ geocoder: Geocoder?
    ) throws(ToolError) -> QueryAnswer? {
        guard let item = answer.envelope, let query = QueryID(answer.id) else { return nil }
        let fix: OpenedFix
        do throws(OpeningError) { fix = try opener.fix(in: item, answering: query, notBefore: earliest) } catch {
            throw .data(error.description)
        }
        var opened = answer
        opened.envelope = nil
        opened.location = LocationItem(fix, place: geocoder?.placemark(of: fix))
        return opened
    }

    private static func show(_ answer: QueryAnswer, _ invocation: Invocation) {
        if invocation.has(Options.json) {
            invocation.console.result(answer.bytes + [UInt8(ascii: "\n")])
        } else if let location = answer.location {
            invocation.console.line(LocationText(location: location, now: .now).lines)
        }
    }

    /// Reads the query until it has ended or the wait is over; returns the last answer.
    private static func poll(
        _ id: String, _ client: Client, waitSeconds: Int64, _ console: Console
    ) throws(ToolError) -> (JSONValue, QueryAnswer) {
        let start = ContinuousClock.now
        // The service ends the query at its deadline, and needs a moment to record that.
        let end = start + .seconds(waitSeconds) + .seconds(1)
        while true {
            let left = (end - ContinuousClock.now).components.seconds
            let json = try client.get(
                APIPath.locationQuery.parts(id), query: [("wait", "\(max(0, min(left, requestSeconds)))")])
            let answer = try json.read(QueryAnswer.self)
            guard answer.status == "pending", ContinuousClock.now < end else {
                console.progress("")
                return (json, answer)
            }
            console.progress("Waiting for the phone, \((ContinuousClock.now - start).components.seconds) s …")
            // In the last second, whole seconds are too long to wait.
            if left < 1 { usleep(lastPauseMicroseconds) }
        }
    }
}
