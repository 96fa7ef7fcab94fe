import Cryptography
import Glibc
import JSON
import Service
import TestSupport
import Testing

@testable import WhereaboutsTool

/// The output of `device add` is put into each app as its source requires, and the app's first fix arrives.
@Suite final class AppSetupTests {
    private let folder = TemporaryFolder()
    private let service: Service
    private let url: String
    private let added: JSONValue

    init() throws {
        service = try House.open(folder.path)
        url = "http://127.0.0.1:\(try service.listen(host: "127.0.0.1", port: 0))"
        let reach = ["--url", url, "--token", service.adminToken]
        #expect(whereabouts(words: reach + ["person", "add", "anna"]).exitCode == 0)
        added = try json(
            whereabouts(words: reach + ["device", "add", "phone", "--person", "anna", "--json"]).results)
    }

    deinit { service.stop() }

    private func tool(_ words: String...) -> (exitCode: Int32, results: String, notes: String) {
        whereabouts(words: ["--url", url, "--token", service.adminToken] + words)
    }

    /// Sends by curl, so that another program parses the addresses.
    private func curl(_ arguments: String...) throws -> String {
        let words = arguments.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
        let (status, output) = Foreign.run("curl --silent --show-error --max-time 120 \(words) 2>&1")
        try #require(status == 0, "\(output)")
        return output
    }

    /// The newest fix, once it is there.
    private func newest() throws -> JSONValue {
        try eventually("a fix in the track", pauseMilliseconds: 50) {
            let answer = try curl(
                "--header", "Authorization: Bearer \(service.adminToken)", "\(url)/v1/people/anna/track")
            return try json(answer)["items"]?.array.map(Array.init)?.last
        }
    }

    private func expectFix(speed: Double?) throws {
        let fix = try newest()
        #expect(fix["latitude"]?.double == 46.5 && fix["longitude"]?.double == 9.25)
        #expect(fix["horizontalAccuracy"]?.double == 4.5 && fix["speed"]?.double == speed)
    }

    /// `LiveSender.java` puts its values in by `MessageFormat`; the time is in milliseconds.
    @Test func `OsmAnd's address`() throws {
        var address = try #require(added["osmAndAddress"]?.string)
        let values = ["46.5", "9.25", "1777881000123", "4.5", "410.0", "3.5", "90.0", "", "", "", "", "87"]
        for (index, value) in values.enumerated() { address = address.replacing("{\(index)}", with: value) }
        #expect(!address.contains("{"))
        _ = try curl("--fail", "--globoff", address)
        try expectFix(speed: 3.5)
        #expect(try newest()["batteryLevel"]?.double == 0.87)
    }

    /// `CustomUrlManager.java` replaces names without regard to case, in the order of the source.
    @Test func `GPSLogger's body`() throws {
        var body = try #require(added["gpsLoggerBody"]?.string)
        for (name, value) in [
            ("%LAT", "46.5"), ("%LON", "9.25"), ("%ALT", "410.0"), ("%ACC", "4.5"), ("%DIR", "90.0"), ("%SPD", "3.5"),
            ("%TIMESTAMP", "1777881000"), ("%BATT", "87.0"),
        ] { body = body.replacing(name, with: value) }
        #expect(!body.contains("%"))
        let user = try #require(added["user"]?.string), password = try #require(added["password"]?.string)
        _ = try curl(
            "--fail", "--user", "\(user):\(password)", "--header", "Content-Type: application/json", "--data", body,
            try #require(added["url"]?.string))
        try expectFix(speed: 3.5)
    }

    /// `configuration_service.dart`: the address is all before the query, the identifier is `id`.
    @Test func `Traccar Client's link`() throws {
        let link = try #require(added["traccarLink"]?.string)
        let parts = link.split(separator: "?").map(String.init)
        let id = try #require(parts.last?.split(separator: "=").last)
        let body = """
            {"device_id":"\(id)","location":{"timestamp":"2026-05-04T07:50:00.000Z","coords":{"latitude":46.5,
            "longitude":9.25,"accuracy":4.5,"speed":3.5,"heading":90,"altitude":410}}}
            """
        _ = try curl("--fail", "--header", "Content-Type: application/json", "--data", body, parts[0])
        try expectFix(speed: 3.5)
    }

    /// `overland://setup?url=…&token=…&device_id=…`, then its batch with the token as bearer.
    @Test func `Overland's link`() throws {
        let link = try #require(added["overlandLink"]?.string)
        #expect(link.hasPrefix("overland://setup?"))
        let query = link.dropFirst("overland://setup?".count).split(separator: "&").map { pair in
            pair.split(separator: "=").map { String($0.replacing("%3A", with: ":").replacing("%2F", with: "/")) }
        }
        let values = Dictionary(uniqueKeysWithValues: query.map { ($0[0], $0[1]) })
        #expect(values["device_id"] == "phone")
        let body = """
            {"locations":[{"type":"Feature","geometry":{"type":"Point","coordinates":[9.25,46.5]},
            "properties":{"timestamp":"2026-05-04T07:50:00Z","horizontal_accuracy":4.5,"speed":3.5}}]}
            """
        let answer = try curl(
            "--fail", "--header", "Authorization: Bearer \(values["token"] ?? "")", "--header",
            "Content-Type: application/json", "--data", body, values["url"] ?? "")
        #expect(answer == #"{"result":"ok"}"#)
        try expectFix(speed: 3.5)
    }

    @Test func `people are told what to do in each app, and see one code`() throws {
        let all = tool("device", "add", "tablet", "--person", "anna").results
        for wanted in [
            #""Allow external configuration""#, "owntracks:///config?inline=", "overland://setup?url=",
            "/osmand?id=wd_",
            "lat={0}&lon={1}", "%TIMESTAMP",
        ] { #expect(all.contains(wanted), "\(wanted)") }
        // A code's corners are dark on both sides: lines of blocks.
        func codes(_ text: String) -> Int {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.contains("█") }
            return zip([false] + lines, lines).count { !$0 && $1 }
        }
        #expect(codes(all) == 1)
        let one = tool("device", "add", "watch", "--person", "anna", "--app", "traccar").results
        #expect(codes(one) == 1 && !one.contains("owntracks:///") && one.contains("Traccar Client"))
        #expect(codes(tool("device", "add", "bike", "--person", "anna", "--app", "osmand").results) == 0)
        #expect(tool("device", "add", "car", "--person", "anna", "--app", "nothing").exitCode == 2)
    }
}
