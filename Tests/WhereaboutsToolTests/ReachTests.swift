import Glibc
import JSON
import Service
import TestSupport
import Testing

@testable import Log
@testable import WhereaboutsTool

/// A remote service: the tool has an address and a token, and no data directory. Serialized, because the
/// environment belongs to the whole process.
@Suite(.serialized) struct ReachTests {
    /// Runs `body` with the address and the operator's token of a service with one person.
    private func withServer(_ body: (_ url: String, _ token: String) throws -> Void) throws {
        let folder = TemporaryFolder()
        let service = try House.open(folder.path)
        defer { service.stop() }
        let port = try service.listen(host: "127.0.0.1", port: 0)
        let url = "http://127.0.0.1:\(port)"
        #expect(whereabouts("--url", url, "--token", service.adminToken, "person", "add", "anna").exitCode == 0)
        try body(url, service.adminToken)
    }

    @Test func `commands reach an address with a token`() throws {
        try withServer { url, token in
            let people = try json(whereabouts("--url", url, "--token", token, "person", "list", "--json"))
            #expect(people["people"]?.array.map(Array.init)?.map { $0.text("handle") } == ["anna"])
            #expect(whereabouts("visits", "--person", "anna", "--url", url, "--token", token).exitCode == 0)
            let device = whereabouts("device", "add", "phone", "--person", "anna", "--url", url, "--token", token)
            #expect(device.exitCode == 0 && device.results.contains("\(url)/owntracks"))
        }
    }

    @Test func `a person's own token asks as that person`() throws {
        try withServer { url, token in
            let added = try json(
                whereabouts(
                    "token", "add", "--person", "anna", "--scopes", "query,audit", "--json", "--url", url, "--token",
                    token
                ).results)
            let own = try #require(added["token"]?.string)
            #expect(own.hasPrefix("wp_"))
            #expect(
                whereabouts("visits", "--person", "anna", "--as", "anna", "--url", url, "--token", own).exitCode == 0)
            #expect(whereabouts("person", "list", "--url", url, "--token", own).exitCode == 3)
        }
    }

    @Test func `only the owner can read the address and token of a profile`() throws {
        let folder = TemporaryFolder()
        setenv("XDG_CONFIG_HOME", folder.path, 1)
        defer { unsetenv("XDG_CONFIG_HOME") }
        try withServer { url, token in
            #expect(whereabouts("profile", "add", "home", "--url", url, "--token", token).exitCode == 0)
            #expect(whereabouts("--profile", "home", "person", "list").exitCode == 0)
            #expect(!whereabouts("profile", "list").results.contains(token))
            var status = stat()
            #expect(stat(folder.path + "/whereabouts/profiles.json", &status) == 0 && status.st_mode & 0o777 == 0o600)
            #expect(whereabouts("profile", "remove", "home").exitCode == 0)
            #expect(whereabouts("--profile", "home", "person", "list").notes.contains("There is no profile \"home\""))
        }
    }

    @Test func `a refused token is named by the service and its source`() throws {
        let folder = TemporaryFolder()
        setenv("XDG_CONFIG_HOME", folder.path, 1)
        defer { unsetenv("XDG_CONFIG_HOME") }
        try withServer { url, _ in
            func refusal(_ source: String, _ words: String...) {
                let (exitCode, _, notes) = whereabouts(words: words + ["person", "list"])
                #expect(exitCode == 3)
                #expect(notes == "whereabouts: The service at \(url) does not accept the token \(source).\n")
            }
            let token = "wo_" + String(repeating: "A", count: 43)
            refusal("from --token", "--url", url, "--token", token)
            setenv("WHEREABOUTS_TOKEN", token, 1)
            defer { unsetenv("WHEREABOUTS_TOKEN") }
            refusal("from WHEREABOUTS_TOKEN", "--url", url)
            #expect(whereabouts("profile", "add", "home", "--url", url).exitCode == 0)
            refusal("of the profile \"home\"", "--profile", "home")
        }
    }

    @Test func `the token of a data directory is named by its file`() throws {
        let folder = TemporaryFolder()
        let service = try House.open(folder.path)
        defer { service.stop() }
        let port = try service.listen(host: "127.0.0.1", port: 0)
        let file = folder.path + "/admin.token"
        try DataDirectory.writePrivate(Array("wo_\(String(repeating: "A", count: 43))\n".utf8), to: file)
        let refused = whereabouts("--data", folder.path, "person", "list")
        #expect(refused.exitCode == 3)
        #expect(
            refused.notes
                == "whereabouts: The service at http://127.0.0.1:\(port) does not accept the token in \(file).\n")
    }

    @Test func `contradicting options and a missing token are named`() {
        #expect(whereabouts("--data", "/x", "--url", "http://h", "person", "list").exitCode == 2)
        #expect(whereabouts("--url", "http://h", "person", "list").notes.contains("--url needs a token"))
        #expect(whereabouts("--url", "where.example", "--token", "t", "person", "list").exitCode == 2)
        #expect(whereabouts("backup", "/x", "--url", "http://h", "--token", "t").exitCode == 2)
    }
}
