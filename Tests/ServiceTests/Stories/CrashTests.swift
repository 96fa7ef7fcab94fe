import Glibc
import HTTPServer
import Projections
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Log
@testable import Service

/// The files after a crash at the worst moment.
@Suite struct CrashTests {
    /// A copy of the files when the answer is made, before a byte of it can be sent, is the state that a kill would
    /// leave.
    @Test func `the record of an answer survives the end of the process between record and reply`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let phone = try house.addDevice("walker-phone", of: "walker")
        house.send(
            "POST", "/v1/fixes", as: phone, #"{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.3}"#)
        _ = house.settled()
        let given = Monitor<Kept?>(nil)
        let directory = house.directory
        house.send("GET", "/v1/people/walker/location", as: walker) { _ in
            let kept = Kept(of: directory)
            given.change { $0 = kept }
        }
        let kept = try given.expected("the answer") { $0 }
        let data = try DataDirectory(path: kept.path)
        let log = try EventLog.alone(in: data)
        defer { log.stop() }
        let last = try #require(try log.reader().event(log.head))
        guard case .locationRead(let read) = last.event.event else {
            Issue.record("The newest event is no reading.")
            return
        }
        #expect(read.question == .location)
        #expect(read.content.content?.answerHash != nil)
    }
}

/// A copy of a data directory of a running service, equal to its state after a kill at that moment.
final class Kept: Sendable {
    private static let files = [
        // First: it must not know more than the copy of the log.
        "log.witness", "log.sqlite", "log.sqlite-wal", "keys.sqlite", "keys.sqlite-wal", "kek", "admin.token",
    ]
    private let folder = TemporaryFolder()
    var path: String { folder.path }

    init(of directory: String) { Self.copy(from: directory, to: path) }

    /// Replaces the directory's content with the copy; the projections are folded again.
    func restore(to directory: String) {
        for file in ["log.sqlite-shm", "keys.sqlite-shm", "catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"]
        {
            unlink("\(directory)/\(file)")
        }
        for file in Self.files { unlink("\(directory)/\(file)") }
        remove("\(directory)/projections")
        Self.copy(from: path, to: directory)
    }

    private static func copy(from source: String, to target: String) {
        for file in files {
            guard let bytes = DataDirectory.read("\(source)/\(file)", atMost: 64 << 20) else { continue }
            try? DataDirectory.writePrivate(bytes, to: "\(target)/\(file)")
        }
    }
}
