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

/// After an upgrade: a file of another version of the program answers over HTTP until the new one is folded.
@Suite struct OutdatedAnswerTests {
    /// The version that this program cannot fold.
    private static let foreign: Int64 = 7

    /// Makes the file of a projection one of version ``foreign``, as an earlier program with the same tables left it.
    ///
    /// - Parameters:
    ///   - catalog: The catalog of the projections in `folder`.
    /// - Returns: A folder in the place of the new file, which cannot be made until the folder is removed.
    private static func age(_ name: String, _ catalog: String, in folder: String) throws -> String {
        let catalog = try Connection(path: catalog, access: .readWrite)
        let (version, generation) = try catalog.cached(
            "SELECT version, generation FROM generation WHERE name = ? AND role = 'active'"
        ) { (statement) throws(SQLiteError) in
            try statement.bind(name, at: 1)
            _ = try statement.step()
            return (statement.int(at: 0), statement.int(at: 1))
        }
        func path(_ version: Int64) -> String { "\(folder)/\(name)-v\(version)-\(generation).sqlite" }
        do {
            let file = try ProjectionFile(path: path(version), access: .readWrite)
            let saved = try FollowedProjection.readPlace(file)
            try FollowedProjection.write(
                .init(
                    number: saved.number, leaf: saved.leaf, logID: saved.logID, epoch: saved.epoch, version: foreign,
                    form: saved.form, fingerprint: saved.fingerprint, isLoading: false), to: file)
            _ = try file.connection.checkpoint(.truncate)
        }
        #expect(rename(path(version), path(Self.foreign)) == 0)
        try catalog.cached("UPDATE generation SET version = ? WHERE name = ?") { (statement) throws(SQLiteError) in
            try statement.bind(foreign, at: 1)
            try statement.bind(name, at: 2)
            try statement.run()
        }
        let block = "\(folder)/\(name)-v\(version)-\(generation + 1).sqlite"
        #expect(mkdir(block, 0o700) == 0)
        return block
    }

    @Test func `answers of an older file say so, with the place up to which they are`() throws {
        let house = try ServiceUnderTest()
        let anna = try house.addPerson("anna")
        let phone = try house.addDevice("phone", of: "anna")
        func report(_ latitude: Double) -> Int {
            house.clock.advance(seconds: 60)
            return house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds),"latitude":\#(latitude),"longitude":16.4,"horizontalAccuracy":5}"#
            ).status
        }
        #expect(report(48.2) == 200)
        _ = house.settled()
        let place = house.service.log.head
        let outdated = "Whereabouts-Outdated"
        let (catalog, folder) = (house.service.directory.catalog, house.service.directory.projections)
        var block = ""
        try house.restart { block = try Self.age(CurrentTable.name, catalog, in: folder) }
        #expect(report(48.3) == 200)

        let location = house.send("GET", "/v1/people/anna/location", as: anna)
        #expect(location.status == 200 && location.header(outdated) == "1", "\(location.text)")
        #expect(location["location"]?["latitude"]?.double == 48.2)
        #expect(location.header("Content-Type")?.hasPrefix("application/json") == true)
        // The other projections follow the log, and say nothing.
        let track = house.send("GET", "/v1/people/anna/track", as: anna)
        #expect(track.items.count == 2 && track.header(outdated) == nil)
        // A client that must see the newer fix is not given the older one.
        let awaited = house.send("GET", "/v1/people/anna/location?at-least=\(house.service.log.head)", as: anna)
        #expect(awaited.status == 503, "\(awaited.text)")

        let ready = house.send("GET", "/readyz", as: nil)
        #expect(ready.text.contains("current"), "\(ready.text)")
        let listed = house.manage("GET", "/v1/projections").items.filter { $0["name"]?.string == CurrentTable.name }
        #expect(listed.map { $0["state"]?.string } == ["outdated"])
        #expect(listed.first?["place"]?.int ?? 0 >= place && listed.first?["place"]?.int ?? 0 < house.service.log.head)

        // The disk is in order again: the new file is made, folded and takes over.
        #expect(rmdir(block) == 0)
        try eventually("the new file") {
            house.send("GET", "/v1/people/anna/location", as: anna).header(outdated) == nil
        }
        let renewed = house.send("GET", "/v1/people/anna/location", as: anna)
        #expect(renewed["location"]?["latitude"]?.double == 48.3, "\(renewed.text)")
        #expect(house.send("GET", "/readyz", as: nil).status == 200)
        #expect(house.manage("GET", "/v1/verify")["ok"]?.bool == true)
    }
}
