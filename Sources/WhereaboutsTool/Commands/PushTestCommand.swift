import Log
import Reactors
import Replies
import Whereabouts

/// `push-test`: tests the way to a phone with a real push, or prints the request for `curl`.
enum PushTestCommand {
    private static let printCurl = Option.flag("print-curl", help: "send nothing; print the same request for curl")
    private static let withProviderToken = Option.flag(
        "with-provider-token", help: "with --print-curl: print a signed provider token too; it is a secret")

    static let command = Command(
        words: ["push-test"], summary: "Wake a device once and show APNs' answer.",
        requires: [Options.device], accepts: [printCurl, withProviderToken, Options.purpose, Options.json],
        details: """
            The push is real and recorded: it counts against the device's budget, and the person sees it. The exit code is
            1 unless APNs accepts the push; acceptance is not delivery. --print-curl shows the person's device token, which
            is recorded as a read, with --purpose; the printed command takes the provider token from $PROVIDER_TOKEN.
            """, run: run)

    private static func run(_ invocation: Invocation) throws(ToolError) {
        guard invocation.has(printCurl) || !invocation.has(withProviderToken) else {
            throw .usage("--with-provider-token needs --print-curl.")
        }
        let device = invocation.required(Options.device).text
        if invocation.has(printCurl) { return try showCurl(device, invocation) }
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.devicesPushTests.parts(device))
        }
        try invocation.show(answer) { (test: PushTestItem) in invocation.console.line(lines(of: test)) }
        guard try answer.read(PushTestItem.self).status == 200 else { throw .checkFailed(nil) }
    }

    private static func lines(of test: PushTestItem) -> String {
        var lines =
            switch test.status {
            case 200: "APNs accepted the push: status 200"
            case let status?: "APNs refused the push: status \(status), reason \(test.reason ?? "none given")"
            case nil: "APNs did not answer: \(test.reason ?? "the reason is unknown")"
            }
        lines += "\n  apns-id         \(test.apnsID)"
        if let unique = test.apnsUniqueID { lines += "\n  apns-unique-id  \(unique)" }
        for attempt in test.attempts {
            let status = attempt.status.map { "\($0)" } ?? "none"
            let words = attempt.reason.map { ", \($0)" } ?? ""
            lines += "\n  try \(attempt.attempt)           status \(status)\(words)"
            lines += ", \(attempt.durationMilliseconds) ms"
        }
        return lines
    }

    private static func showCurl(_ device: String, _ invocation: Invocation) throws(ToolError) {
        let request = try House.withClient(invocation) { client throws(ToolError) in
            try client.get(APIPath.devicesPushRequest.parts(device)).read(PushRequestItem.self)
        }
        // In double quotes, so that the shell inserts the variable's value.
        var authorization = "\"authorization: bearer $PROVIDER_TOKEN\""
        if invocation.has(withProviderToken) {
            authorization = quoted("authorization: bearer " + (try providerToken(for: request, invocation)))
        }
        var words = ["curl --http2 --include"]
        if let file = request.caFile { words.append("--cacert \(quoted(file))") }
        words.append("--header \(authorization)")
        for field in request.headers.all { words.append("--header \(quoted("\(field.name): \(field.value)"))") }
        words.append("--data-binary \(quoted(request.body))")
        words.append(quoted(request.url))
        invocation.console.line(words.joined(separator: " \\\n  "))
    }

    /// Signed here, with the files that `config.json` names: no answer of the service has a provider token.
    private static func providerToken(
        for request: PushRequestItem, _ invocation: Invocation
    ) throws(ToolError) -> String {
        do {
            let configuration = try ServiceConfiguration.read(try House.path(of: invocation) + "/config.json")
            let push = configuration.push.first {
                $0.environment.word == request.environment && $0.bundleIDs.contains(request.bundleID)
            }
            guard let push else { throw ToolError.data("config.json has no \"push\" for the device's app.") }
            return try push.providerToken(at: .now)
        } catch { throw .data("\(error)") }
    }

    /// The text as one word of a POSIX shell.
    private static func quoted(_ text: String) -> String {
        var word = "'"
        for character in text { word += character == "'" ? #"'\''"# : String(character) }
        return word + "'"
    }
}
