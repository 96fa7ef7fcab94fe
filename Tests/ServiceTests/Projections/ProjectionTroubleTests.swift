import Glibc
import JSON
import Log
import SQLite
import TestSupport
import Testing
import Whereabouts

@testable import Projections
@testable import Service
@testable import Tables

/// A cache that cannot be written delays neither reports nor other caches; it is named and recovers.
@Suite struct ProjectionTroubleTests {
    private func file(_ name: String, of house: ServiceUnderTest) throws -> String {
        try #require(house.service.host.activePath(of: name))
    }

    private func readiness(_ house: ServiceUnderTest) -> Answer { house.send("GET", "/readyz", as: nil) }

    @Test func `a projection that cannot be written does not delay the others`() throws {
        let house = try ServiceUnderTest()
        let anna = try house.addPerson("anna")
        let key = try house.addDevice("phone", of: "anna")
        _ = house.settled()
        // A foreign process holds the file's write lock.
        let stranger = try Connection(path: try file(TimelineTable.name, of: house), access: .readWrite)
        try stranger.begin()
        let fix =
            #"{"fixes":[{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.3,"horizontalAccuracy":5}]}"#
        #expect(house.send("POST", "/v1/fixes", as: key, fix).status == 200)
        let head = house.service.log.head
        let others = ProjectionKind.all.map(\.name).filter { $0 != TimelineTable.name }
        #expect(house.service.host.wait(for: head, in: others, milliseconds: patienceMilliseconds))
        #expect(house.service.host.place(of: TimelineTable.name) < head)
        #expect(house.send("GET", "/v1/people/anna/audit?at-least=\(head)", as: anna).status == 200)
        let answer = readiness(house)
        #expect(answer.status == 503)
        #expect(answer.text.contains("timeline cannot be written"), "\(answer.text)")
        let figures = house.send("GET", "/metrics", as: house.operatorToken).text
        #expect(figures.contains(#"whereabouts_projection_failing{projection="timeline"} 1"#))
        #expect(figures.contains(#"whereabouts_projection_failing{projection="audit"} 0"#))

        try stranger.rollback()
        #expect(house.service.host.wait(for: head, in: [TimelineTable.name], milliseconds: patienceMilliseconds))
        _ = house.settled()
        #expect(readiness(house).status == 200)
    }

    @Test func `a standing that cannot be saved is reported and has no other effect`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("anna")
        _ = try house.addPerson("bert")
        let key = try house.addDevice("phone", of: "bert")
        // The first end saves it.
        try house.restart()
        let path = StandingFile(directory: house.service.directory.projections).path
        do {
            let stranger = try Connection(path: path, access: .readWrite)
            try stranger.begin()
            // An erasure saves the standing; a file that names the person and cannot be replaced is removed.
            #expect(house.send("DELETE", "/v1/people/anna", as: house.operatorToken).status == 200)
            #expect(access(path, F_OK) != 0)
            try stranger.rollback()
        }
        let answer = readiness(house)
        #expect(answer.status == 200)
        #expect(answer["note"]?.string?.contains("standing") == true)
        let figures = house.send("GET", "/metrics", as: house.operatorToken).text
        #expect(figures.contains("whereabouts_standing_unsaved 1"))
        let fix =
            #"{"fixes":[{"timestamp":\#(house.clock.seconds),"latitude":48.2,"longitude":16.3,"horizontalAccuracy":5}]}"#
        #expect(house.send("POST", "/v1/fixes", as: key, fix).status == 200)
        let standing = house.service.log.standingCopy()
        try house.restart()
        #expect(readiness(house)["note"] == nil)
        #expect(house.service.log.withStanding { $0.place } >= standing.place)
    }

    /// A folder in place of the file acts like a disk that fails for good.
    @Test func `a projection that cannot be opened affects nothing else, and is opened once that works`()
        throws
    {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("anna")
        _ = house.settled()
        let path = try file(TimelineTable.name, of: house)
        try house.restart {
            for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
            #expect(mkdir(path, 0o700) == 0)
        }
        #expect(readiness(house).text.contains("timeline cannot be opened"))
        #expect(house.send("GET", "/v1/people/anna/audit", as: try house.token(of: "anna")).status == 200)
        #expect(rmdir(path) == 0)
        let isThere = house.service.host.wait(
            for: house.service.log.head, in: [TimelineTable.name], milliseconds: patienceMilliseconds)
        #expect(isThere)
        _ = house.settled()
        #expect(readiness(house).status == 200)
    }

    @Test func `a rebuild whose file cannot be made can be begun again, also after a restart`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("anna")
        _ = house.settled()
        let path = try file(CurrentTable.name, of: house)
        let next = path.replacing("-1.sqlite", with: "-2.sqlite")
        #expect(next != path && mkdir(next, 0o700) == 0)
        func folded() throws {
            try eventually("the new file") { house.service.host.status.allSatisfy { !$0.isLoading } }
        }
        let target = "/v1/projections/\(CurrentTable.name)/rebuild"
        let refused = house.send("POST", target, as: house.operatorToken)
        #expect(refused.status == 503 && refused.text.contains("check the disk"), "\(refused.text)")
        #expect(rmdir(next) == 0)
        #expect(house.manage("POST", target).status == 200)
        _ = house.settled()
        // The file of the new one is lost while the service is stopped.
        try house.restart {
            for suffix in ["", "-wal", "-shm"] { unlink(next + suffix) }
            #expect(mkdir(next, 0o700) == 0)
        }
        #expect(rmdir(next) == 0)
        #expect(house.manage("POST", target).status == 200)
        try folded()
        // So is the file that answered before.
        let activate = "/v1/projections/\(CurrentTable.name)/activate"
        #expect(house.manage("POST", activate).status == 200)
        try house.restart {
            for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
            #expect(mkdir(path, 0o700) == 0)
        }
        #expect(rmdir(path) == 0)
        #expect(house.manage("POST", target).status == 200)
        try folded()
        #expect(house.manage("POST", activate).status == 200)
        #expect(readiness(house).status == 200)
    }
}
