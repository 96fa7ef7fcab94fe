import HTTPServer
import JSON
import Service
import Synchronization
import TestSupport
import Testing

@testable import WhereaboutsTool

/// The tool adds, shows and mends webhooks while a service runs and posts to another party's server.
@Suite struct WebhookCommandTests {
    private final class Scene {
        let folder = TemporaryFolder()
        let receiver: HTTPServer
        let service: Service
        private let answered: Answered

        /// The receiver's answer, and the types of the received messages.
        private final class Answered: Sendable { let state = Mutex((status: 200, told: [String]())) }

        init() throws {
            let answered = Answered()
            receiver = try HTTPServer(HTTPServerConfiguration()) { request, responder in
                let type = try? JSONDocument.parse(request.body).root["type"]?.string
                let status = answered.state.withLock { state in
                    state.told.append(type ?? "")
                    return state.status
                }
                responder.respond(.empty(status))
            }
            try receiver.start()
            self.answered = answered
            try folder.write(#"{"webhooks":{"targets":["http://localhost:\#(receiver.port)"]}}"#, to: "config.json")
            service = try House.open(folder.path)
            _ = try service.listen(host: "127.0.0.1", port: 0)
            for person in ["anna", "ben"] { #expect(tool("person", "add", person).exitCode == 0) }
        }

        deinit {
            service.stop()
            receiver.stop()
        }

        var url: String { "http://localhost:\(receiver.port)/hook" }

        func answer(_ status: Int) { answered.state.withLock { $0.status = status } }
        var told: [String] { answered.state.withLock { $0.told } }

        func tool(_ arguments: String...) -> (exitCode: Int32, results: String, notes: String) {
            let screen = Screen()
            let exitCode = Program.run(["--data", folder.path] + arguments, console: screen.console)
            return (exitCode, screen.results, screen.notes)
        }

        /// Makes a change that is posted under the topic `change`.
        func change() throws {
            let added = tool("grant", "add", "--subject", "anna", "--requester", "ben", "--precision", "city")
            #expect(added.exitCode == 0)
        }

        /// Looks until the only webhook is as wanted.
        func until(_ isGood: (JSONValue) -> Bool) throws {
            try eventually("another state of the webhook") {
                let listed = try json(tool("webhook", "list", "--person", "anna", "--json"))
                return listed["webhooks"]?.array.map(Array.init)?.first.map(isGood) ?? false
            }
        }
    }

    @Test func `a webhook is added, told, mended when its server was gone, and removed`() throws {
        let scene = try Scene()
        let added = try json(
            scene.tool("webhook", "add", "--person", "anna", "--url", scene.url, "--topics", "change", "--json").results
        )
        #expect(added["secret"]?.string?.hasPrefix("whsec_") == true)
        let number = "\(added["id"]?.int ?? 0)"
        try scene.change()
        try scene.until { $0["told"]?.int ?? 0 > Int64(number) ?? 0 }
        #expect(scene.told == ["change"])
        let list = scene.tool("webhook", "list", "--person", "anna").results
        #expect(list.contains("active") && list.contains(scene.url) && !list.contains("delivered"))
        let tested = scene.tool("webhook", "test", number, "--person", "anna")
        #expect(tested.exitCode == 0 && tested.results.contains("webhook list --person anna"), "\(tested.notes)")
        try scene.until { $0["testOutcome"]?.string == "delivered" }
        #expect(scene.told == ["change", "test"])
        #expect(scene.tool("webhook", "list", "--person", "anna").results.contains("delivered"))

        scene.answer(410)
        try scene.change()
        try scene.until { $0["state"]?.string == "stopped" }
        let letters = scene.tool("webhook", "letters", number, "--person", "anna").results
        #expect(letters.contains("msg_") && letters.contains("410"))
        let refused = scene.tool("webhook", "test", number, "--person", "anna")
        #expect(refused.exitCode != 0 && refused.notes.contains("stopped"), "\(refused.notes)")
        scene.answer(204)
        #expect(
            scene.tool("webhook", "retry", number, "--person", "anna").results
                == "1 sent again; \"webhook letters\" lists those that fail again.\n")
        try scene.until { $0["state"]?.string == "active" && $0["deadLetters"]?.int == 0 }
        #expect(scene.told == ["change", "test", "change", "change"])

        scene.answer(410)
        try scene.change()
        try scene.until { $0["deadLetters"]?.int == 1 }
        #expect(scene.tool("webhook", "discard", number, "--person", "anna").results == "Discarded 1.\n")
        #expect(
            scene.tool("webhook", "letters", number, "--person", "anna").notes
                == "The webhook \(number) has given up no message.\n")

        let token = try #require(tokens(scene).first)
        #expect(
            scene.tool("webhook", "remove", number, "--person", "anna").results
                == "Removed the webhook \(number).\nIts token \(token) is still valid; \"token remove \(token)\" revokes it.\n"
        )
        #expect(scene.tool("webhook", "list", "--person", "anna").notes == "anna has no webhook.\n")
    }

    @Test func `a notice to ntfy takes its token from a file, and what a kind does not take is refused`() throws {
        let scene = try Scene()
        let file = try scene.folder.write("tk_secret\n", to: "token")
        let added = scene.tool(
            "webhook", "add", "--person", "anna", "--kind", "ntfy", "--url", scene.url, "--token-file", file,
            "--priority",
            "4", "--topics", "change", "--silent-after", "6h", "--language", "de", "--zone", "Europe/Vienna")
        #expect(added.exitCode == 0 && !added.results.contains("secret"), "\(added.notes)")
        let listed = try json(scene.tool("webhook", "list", "--person", "anna", "--json").results)
        let webhook = try #require(listed["webhooks"]?.array.map(Array.init)?.first)
        #expect(webhook["kind"]?.string == "ntfy" && webhook["silentAfter"]?.int == 21_600)
        #expect(webhook["language"]?.string == "de" && webhook["zone"]?.string == "Europe/Vienna")
        #expect(webhook["topics"]?.array?.compactMap(\.string) == ["change", "silence"])
        try scene.change()
        try scene.until { $0["told"]?.int ?? 0 > $0["id"]?.int ?? .max }
        // The text is no JSON, so the receiver saw no type.
        #expect(scene.told == [""])
        let number = "\(webhook["id"]?.int ?? 0)"
        #expect(scene.tool("webhook", "confirm", number, "--person", "anna", "--code", "AAAAA-AAAAA").exitCode == 0)
        let mail = scene.tool("webhook", "add", "--person", "anna", "--kind", "email", "--address", "a@example.org")
        #expect(mail.exitCode != 0 && mail.notes.contains("mail relay"))
        let both = scene.tool(
            "webhook", "add", "--person", "anna", "--url", scene.url, "--address", "a@example.org")
        #expect(both.exitCode == 2 && both.notes.contains("\"address\""))
        #expect(
            scene.tool(
                "webhook", "add", "--person", "anna", "--kind", "ntfy", "--url", scene.url, "--token-file", "/nowhere"
            ).exitCode == 3)
        #expect(try tokens(scene).count == 1)
    }

    @Test func `what is refused leaves no token behind`() throws {
        let scene = try Scene()
        let elsewhere = scene.tool("webhook", "add", "--person", "anna", "--url", "https://elsewhere.example/")
        #expect(elsewhere.exitCode == 2 && elsewhere.notes.contains("has not allowed https://elsewhere.example"))
        #expect(try tokens(scene) == [])
        for _ in 0..<4 {
            #expect(scene.tool("webhook", "add", "--person", "anna", "--url", scene.url).exitCode == 0)
        }
        #expect(scene.tool("webhook", "add", "--person", "anna", "--url", scene.url).exitCode != 0)
        #expect(try tokens(scene).count == 4)
        #expect(scene.tool("webhook", "remove", "999", "--person", "anna").exitCode == 3)
    }

    private func tokens(_ scene: Scene) throws -> [Int64] {
        let listed = try json(scene.tool("token", "list", "--person", "anna", "--json").results)
        return listed["tokens"]?.array.map(Array.init)?.compactMap { $0["id"]?.int } ?? []
    }
}
