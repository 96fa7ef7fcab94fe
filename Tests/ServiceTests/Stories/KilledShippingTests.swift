import Cryptography
import Glibc
import JSON
import LogVerifying
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Log
@testable import Maintenance
@testable import Service

/// `whereabouts serve` as a separate process that ships, killed at any moment.
@Suite struct KilledShippingTests {
    private static let rounds = 6

    @Test(.enabled(if: Repository.tool != nil, "whereabouts was not built beside the tests"))
    func `killed at any moment, the next process goes on shipping where the folder ends`() throws {
        let tool = try #require(Repository.tool)
        let temporary = TemporaryFolder()
        let (data, target) = (temporary.file("data"), temporary.file("target"))
        mkdir(data, 0o700)
        mkdir(target, 0o700)
        try DataDirectory.writePrivate(
            Array(#"{"shipping":{"directory":"\#(target)"}}"#.utf8), to: "\(data)/config.json")
        var phone = ""
        var random = SplitMix(4711)
        for round in 0..<Self.rounds {
            let process = try KilledProcessTests.Process(tool, data: data)
            let client = SocketClient(port: process.port)
            if round == 0 {
                let admin = try KilledProcessTests.admin(data)
                _ = try client.send("POST", "/v1/people", as: admin, #"{"handle":"walker"}"#)
                let device = try client.send(
                    "POST", "/v1/people/walker/devices", as: admin, #"{"handle":"walker-phone"}"#)
                phone = try #require(device["password"]?.string)
            }
            let end = MonotonicClock.milliseconds + 100 + Int64(random.next() % 900)
            var second = Int64(1_777_881_600) + Int64(round) * 100_000
            while MonotonicClock.milliseconds < end {
                second += 10
                let body = #"{"timestamp":\#(second),"latitude":48.2,"longitude":16.4}"#
                #expect(try client.send("POST", "/v1/fixes", as: phone, body).status == 200)
            }
            kill(process.id, SIGKILL)
            #expect(process.ended().signal == SIGKILL)
        }
        // A stop ships the remaining events.
        let last = try KilledProcessTests.Process(tool, data: data)
        kill(last.id, SIGTERM)
        #expect(last.ended().status == 0)

        let folder = try #require(names(in: target).first)
        let path = temporary.file("again")
        let outcome = try Restore.restore(
            from: "\(target)/\(folder)", to: path, kek: "\(data)/kek", newerKeys: nil)
        let directory = try DataDirectory(path: data)
        let found = try LogVerifier.verify(directory) { _, _ in }
        #expect(found.problem == nil && found.events == outcome.manifest.events)
        #expect(found.root.hex == outcome.manifest.root)
        #expect(outcome.rest == ShippedRest(later: 0, incompleteBytes: 0))
    }
}
