import Cryptography
import Geodesy
import JSON
import Log
import TestSupport
import Testing
import Whereabouts

@testable import Projections
@testable import Service
@testable import Tables

/// A row has the same hash when it is written and when it is read, for all numbers that a client sends.
@Suite struct StoredNumberTests {
    /// Numbers as a client may write them: zeros of both signs, numbers too small or large for a double, whole numbers
    /// that no double represents, the ends of 32 and 64 bits, degrees with seven decimals and with more.
    private static let spellings = [
        "-0.0", "-0", "0", "0.0", "-1e-400", "1e-400", "-0e5", "5e-324", "-5e-324", "2.2250738585072011e-308", "1e308",
        "1.7976931348623157e308", "1e309", "9007199254740993", "2147483648", "-2147483649", "9223372036854775807",
        "-9223372036854775808", "18446744073709551615", "0.1", "1E-7", "-1e-7", "89.99999999999999", "90", "-90", "360",
        "359.99999999999994", "179.99999999999997", "-180", "13.4038584", "13.403858412345678", "140737488355328.5",
        "1e15", "4503599627370497.5",
    ]

    /// Each dialect with its members that are numbers, and a message whose member of this name has this value.
    private enum Dialect: CaseIterable {
        case fixes, ownTracks, overland, osmAnd, traccar, imported

        var members: [String] {
            switch self {
            case .fixes, .imported:
                [
                    "latitude", "longitude", "horizontalAccuracy", "altitude", "ellipsoidalAltitude",
                    "verticalAccuracy", "floor", "speed", "speedAccuracy", "course", "courseAccuracy", "batteryLevel",
                ]
            case .ownTracks: ["lat", "lon", "acc", "alt", "vac", "vel", "cog", "batt"]
            case .overland:
                [
                    "lon", "lat", "horizontal_accuracy", "altitude", "vertical_accuracy", "speed", "course",
                    "battery_level",
                ]
            case .osmAnd: ["lat", "lon", "accuracy", "altitude", "speed", "bearing", "batt"]
            case .traccar: ["latitude", "longitude", "accuracy", "altitude", "speed", "heading"]
            }
        }

        /// The members with their usual values, but for one.
        private func list(_ usual: [(String, String)], _ name: String, _ value: String) -> String {
            let rest = usual.filter { $0.0 != name }
            return (rest + [(name, value)]).map { #""\#($0.0)":\#($0.1)"# }.joined(separator: ",")
        }

        func send(_ name: String, _ value: String, at second: Int64, _ key: String, _ house: ServiceUnderTest) -> Answer
        {
            switch self {
            case .fixes:
                let fix = list([("latitude", "46"), ("longitude", "9.25")], name, value)
                return house.send("POST", "/v1/fixes", as: key, #"{"timestamp":\#(second),\#(fix)}"#)
            case .imported:
                let fix = list([("latitude", "46"), ("longitude", "9.25")], name, value)
                return house.send(
                    "POST", "/v1/imports/6b1c4f6e-3f60-4cb9-9d1f-2f5f1a1f7a01/batches", as: house.operatorToken,
                    #"{"device":"pocket","fixes":[{"timestamp":\#(second),\#(fix)}]}"#)
            case .ownTracks:
                let fix = list([("lat", "46"), ("lon", "9.25")], name, value)
                return house.send(
                    "POST", "/owntracks", as: key, #"{"_type":"location","tst":\#(second),"t":"u",\#(fix)}"#)
            case .overland:
                let place = ["lon", "lat"].map { $0 == name ? value : $0 == "lon" ? "9.25" : "46" }
                let more = name.hasPrefix("l") ? "" : #","\#(name)":\#(value)"#
                return house.send(
                    "POST", "/overland", as: key,
                    """
                    {"locations":[{"type":"Feature","geometry":{"type":"Point","coordinates":[\(place[0]),\(place[1])]},\
                    "properties":{"timestamp":\(second)\(more)}}]}
                    """)
            case .osmAnd:
                let usual = [("lat", "46"), ("lon", "9.25")].filter { $0.0 != name } + [(name, value)]
                let parameters = usual.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
                return house.send("GET", "/osmand?id=\(key)&timestamp=\(second)&\(parameters)", as: nil)
            case .traccar:
                let fix = list([("latitude", "46"), ("longitude", "9.25")], name, value)
                return house.send(
                    "POST", "/osmand", as: nil,
                    #"{"device_id":"\#(key)","location":{"timestamp":\#(second)000,"coords":{\#(fix)}}}"#,
                    headers: [("Content-Type", "application/json")])
            }
        }
    }

    @Test func `every number that a dialect can deliver has the same hash when it is read back`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let key = try house.addDevice("pocket", of: "walker")
        var second = house.clock.now.milliseconds / 1000 - 80_000
        var taken = 0
        for dialect in Dialect.allCases {
            for member in dialect.members {
                for value in Self.spellings {
                    // Each fix has a different time; some are sent twice, as a twin of a usual fix.
                    second += 10
                    let answer = dialect.send(member, value, at: second, key, house)
                    if answer.status == 429 || answer.status >= 500 { Issue.record("\(answer.status) \(answer.text)") }
                    if second % 40 == 0 { _ = dialect.send(dialect.members[2], "7", at: second, key, house) }
                }
            }
        }
        for event in try house.events() {
            guard case .fixReported(_, _, .open(let fix)) = event.event else { continue }
            taken += 1
            let numbers = [
                fix.coordinate.latitude, fix.coordinate.longitude, fix.horizontalAccuracy, fix.altitude,
                fix.ellipsoidalAltitude, fix.verticalAccuracy, fix.speed, fix.speedAccuracy, fix.course,
                fix.courseAccuracy, fix.batteryLevel,
            ].compactMap { $0 }
            #expect(numbers.allSatisfy { $0.isFinite && ($0 != 0 || $0.sign == .plus) }, "event \(event.number)")
        }
        #expect(taken > 1000)
        try Self.expectHashedAsRead(house)
    }

    /// A log of an earlier version may hold −0 in any field of a fix.
    @Test func `numbers in older events have the same hash when they are read back`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let key = try house.addDevice("pocket", of: "walker")
        let phone = try #require(
            house.service.log.withStanding { standing in
                standing.caller(tokenHash: Hash256(SHA256().hash(Array(key.utf8))), at: house.clock.now)
            })
        var dice = SplitMix(10)
        let start = house.clock.now.adding(seconds: -50_000)
        for index in 0..<600 {
            func number() -> Double {
                let any = Double(bitPattern: .random(in: 0 ... .max, using: &dice))
                return index % 3 == 0 ? -0.0 : any.isNaN ? .leastNonzeroMagnitude : any
            }
            let coordinate = try Coordinate(
                latitude: index % 2 == 0 ? -0.0 : 12.5, longitude: index % 5 == 0 ? -0.0 : 7.25)
            var fix = Fix(
                timestamp: start.adding(seconds: Int64(index) * 30), coordinate: coordinate,
                horizontalAccuracy: number())
            (fix.altitude, fix.verticalAccuracy, fix.speed, fix.course) = (number(), number(), number(), number())
            _ = try house.service.log.appendAndWait(
                .reportFixes(device: .caller, [.fix(fix, answering: nil)]), by: phone, correlation: .random())
        }
        try Self.expectHashedAsRead(house)
    }

    private static func expectHashedAsRead(_ house: ServiceUnderTest) throws {
        let before = house.settled()
        for kind in ProjectionKind.all {
            let file = try #require(before[kind.name]).generation.fileName
            let problem = FingerprintChecker.problem(kind, path: "\(house.directory)/projections/\(file)")
            #expect(problem == nil, "\(kind.name)")
        }
        #expect(house.manage("GET", "/v1/verify")["ok"]?.bool == true)
        // The check after a start finds no difference.
        try house.restart()
        house.service.checker.waitUntilDone()
        #expect(house.settled().mapValues(\.generation) == before.mapValues(\.generation))
    }
}
