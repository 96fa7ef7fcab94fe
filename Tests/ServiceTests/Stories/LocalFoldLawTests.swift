import Answers
import Cryptography
import Foundation
import Gazetteer
import Geodesy
import JSON
import OpenedEnvelopes
import Replies
import TestSupport
import Testing
import Whereabouts
import WireFormats

@testable import DeviceAgent
@testable import Service
@testable import TablesTests

/// Two people with the same days: Anna's phones send them open, Berta's sealed. What the service derives of Anna, Berta's
/// computer derives of the opened envelopes.
private struct TwoPeople {
    let house: ServiceUnderTest
    private let file: KeyFile
    private let token: String
    /// The reporting keys, by handle.
    private var devices: [String: String] = [:]
    private let folder = TemporaryFolder()
    private var dice: SplitMix
    /// What the histories had, so that the law is not one about nothing.
    private(set) var lateBatches = 0

    /// - Parameter home: Where their regions are.
    init(seed: UInt64, home: Coordinate) throws {
        dice = SplitMix(seed)
        house = try ServiceUnderTest { _ in }
        house.clock.set(History.start)
        _ = try house.addPerson("anna")
        token = try house.addPerson("berta")
        file = try KeyFile(of: try #require(Handle("berta")), at: History.start)
        try file.write(to: folder.path + "/berta.keys")
        SealedPerson(file).publish(house, as: token)
        for number in 1...2 {
            for person in ["anna", "berta"] {
                devices["\(person).\(number)"] = try house.addDevice("\(person).\(number)", of: person)
            }
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(number)", withIntermediateDirectories: true)
            let sealed = house.send(
                "PUT", "/v1/devices/berta.\(number)/sealing", as: devices["berta.\(number)"], #"{"sealed":true}"#)
            #expect(sealed.status == 200, "\(sealed.text)")
        }
        for region in Self.regions(around: home) {
            for person in ["anna", "berta"] { house.manage("POST", "/v1/people/\(person)/regions", region) }
        }
    }

    /// Circles that the ways cross, one of which tells no entries, and a polygon.
    private static func regions(around home: Coordinate) -> [String] {
        func circle(_ name: String, _ radius: Int, _ more: String = "") -> String {
            #"{"id":"\#(name)","circle":{"latitude":\#(home.latitude),"longitude":\#(home.longitude),"#
                + #""radiusMeters":\#(radius)}\#(more)}"#
        }
        let corners = [45.0, 135, -135, -45, 45].map { azimuth in
            Geodesic.direct(from: home, initialAzimuth: azimuth, distanceMeters: 700)
        }
        let ring = corners.map { "[\($0.longitude),\($0.latitude)]" }.joined(separator: ",")
        return [
            circle("house", 100), circle("quarter", 900, #","notifyOnEntry":false"#),
            #"{"id":"block","polygon":{"type":"Polygon","coordinates":[[\#(ring)]]}}"#,
        ]
    }

    /// Sends the days in batches, some of them late, to both people at the same moment.
    mutating func live(_ reports: [TablesTests.Report]) throws {
        var batches: [[TablesTests.Report]] = []
        // Twice, the phones have no network on the way.
        let ways = zip(reports, reports.dropFirst()).filter { before, after in
            Geodesic.distanceMeters(from: before.fix.coordinate, to: after.fix.coordinate) > 200
        }
        let outages = (0..<2).compactMap { _ in
            ways.randomElement(using: &dice).map { $0.1.fix.timestamp...$0.1.fix.timestamp.adding(seconds: 1500) }
        }
        for report in reports where !outages.contains(where: { $0.contains(report.fix.timestamp) }) {
            if let last = batches.last, last[0].device == report.device, last.count < 8 {
                batches[batches.count - 1].append(report)
            } else {
                batches.append([report])
            }
        }
        var held: [TablesTests.Report]?
        for batch in batches {
            if held == nil, dice.chance(0.05) {
                held = batch
                lateBatches += 1
                continue
            }
            try send(batch)
            if let late = held {
                try send(late)
                held = nil
            }
        }
        if let held { try send(held) }
    }

    private mutating func send(_ batch: [TablesTests.Report]) throws {
        let latest = batch.map { $0.fix.timestamp.adding(seconds: 1) }.max() ?? History.start
        // Each batch comes at a moment of its own, by which the recipient's computer knows the order.
        house.clock.set(max(house.clock.now.adding(seconds: 1), latest))
        let fixes = batch.map { report in
            var fix = report.fix
            // Some phones are ahead of the service by more than it accepts.
            if fix.receivedAt.map({ $0 < fix.timestamp }) ?? false {
                fix = Fix(
                    timestamp: fix.timestamp.adding(seconds: 130), coordinate: fix.coordinate,
                    horizontalAccuracy: fix.horizontalAccuracy)
            }
            (fix.clientID, fix.receivedAt) = (nil, nil)
            return fix
        }
        let number = batch[0].device == DeviceID(rawValue: batch[0].person.rawValue + 1) ? 1 : 2
        var body = JSONWriter()
        body.beginObject()
        body.array("fixes") { array in for fix in fixes { array.value(FixItem(fix)) } }
        body.endObject()
        let text = String(decoding: body.bytes, as: UTF8.self)
        let open = house.send("POST", "/v1/fixes", as: devices["anna.\(number)"], text)
        #expect(open.status == 200, "\(open.text)")
        let key = devices["berta.\(number)"]
        let questions = house.send("GET", "/v1/devices/berta.\(number)/questions", as: key)
        let sealer = PhoneSealer(keys: folder.path + "/berta.keys", folder: "\(folder.path)/\(number)")
        for message in sealer.history(Data(body.bytes), readers: Data(questions.body)) {
            let sealed = house.send(
                "POST", "/v1/envelopes", as: key, String(decoding: message, as: UTF8.self))
            // Each batch is folded before the next one comes, so that the service's times of report are certain.
            _ = house.settled()
            #expect(
                sealed.status == 200 && (sealed["rejected"]?.array?.underestimatedCount ?? 0) == 0, "\(sealed.text)")
        }
    }

    // MARK: Answers

    /// All items of a list about a person, for the operator.
    private func list<Item: Reply>(_ name: String, of person: String, _ range: String) throws -> [Item] {
        var items: [Item] = []
        var after = ""
        repeat {
            let page = house.manage("GET", "/v1/people/\(person)/\(name)?\(range)\(after)")
            items += try page.items.map { try #require(try Item.read($0)) }
            after = page["next"]?.string.map { "&after=\($0)" } ?? page["next"]?.int.map { "&after=\($0)" } ?? ""
        } while !after.isEmpty
        return items
    }

    /// Berta's timeline, derived on her computer.
    func opened() throws -> LocalTimeline {
        let opener = try EnvelopeOpener(file, of: file.person)
        let (fixes, closed) = try opener.fixes(in: try list("envelopes", of: "berta", ""))
        #expect(closed == 0)
        let regions: [RegionItem] = try list("regions", of: "berta", "")
        let corrections: [CorrectionItem] = try list("corrections", of: "berta", "")
        return LocalTimeline(
            of: fixes, regions: try regions.map { try Region($0) },
            corrections: try corrections.map { try Correction($0) }, places: try Self.places(), at: house.clock.now)
    }

    /// Both correct what they see alike: two visits are one, one is two, one is none; places get names and are joined.
    func correct(_ visits: [VisitItem]) {
        func degrees(_ visit: VisitItem, _ names: (String, String) = ("latitude", "longitude")) -> String {
            guard case .degrees(let latitude, let longitude) = visit.at else { return "" }
            return #""\#(names.0)":\#(latitude),"\#(names.1)":\#(longitude)"#
        }
        func seconds(_ moment: Moment?) -> Double { Double(moment?.milliseconds ?? 0) / 1000 }
        let ended = visits.filter { $0.departure != nil }
        var bodies: [String] = []
        if let longest = ended.max(by: {
            seconds($0.departure) - seconds($0.arrival) < seconds($1.departure) - seconds($1.arrival)
        }) {
            let middle = (seconds(longest.arrival) + seconds(longest.departure)) / 2
            bodies.append(#"{"type":"split","at":\#(middle.rounded())}"#)
            bodies.append(#"{"type":"rename",\#(degrees(longest)),"name":"Home"}"#)
        }
        if ended.count > 2 {
            bodies.append(
                #"{"type":"merge","from":\#(seconds(ended[0].arrival)),"to":\#(seconds(ended[1].departure))}"#)
            bodies.append(
                #"{"type":"samePlace",\#(degrees(ended[0])),\#(degrees(ended[2], ("otherLatitude", "otherLongitude")))}"#
            )
        }
        if ended.count > 3, let last = ended.last {
            bodies.append(
                #"{"type":"notVisit","from":\#(seconds(last.arrival)),"to":\#(seconds(last.departure))}"#)
        }
        for body in bodies {
            for person in ["anna", "berta"] {
                let answer = house.manage("POST", "/v1/people/\(person)/corrections", body)
                #expect(answer.status == 201, "\(body): \(answer.text)")
            }
        }
        _ = house.settled()
    }

    /// The service's gazetteer, as Berta's computer has it.
    private static func places() throws -> LocalPlaces {
        let gazetteer = try Gazetteer(path: ServiceUnderTest.gazetteer)
        let (transform, zones) = (GeocentricTransform(), TimeZoneDatabase())
        return LocalPlaces(
            name: { gazetteer.placemark(at: $0, using: transform).shortAddress },
            timeZone: { gazetteer.timeZone(at: $0) }, rules: { zones.rules($0, from: $1, to: $2) })
    }

    /// The rows of each list in a range, without ids: as the service has them of Anna, and as Berta's computer has them.
    func rows(
        _ timeline: LocalTimeline, from: Timestamp?, to: Timestamp?
    ) throws -> (service: Rows, local: Rows) {
        func parameter(_ name: String, _ time: Timestamp?) -> String {
            time.map { "&\(name)=\($0.milliseconds / 1000)" } ?? ""
        }
        let range = parameter("from", from) + parameter("to", to)
        let service = Rows(
            visits: try list("visits", of: "anna", range), trips: try list("trips", of: "anna", range),
            crossings: try list("crossings", of: "anna", range), places: try list("places", of: "anna", range))
        let local = Rows(
            visits: timeline.visits(from: from, to: to), trips: timeline.trips(from: from, to: to),
            crossings: timeline.crossings(from: from, to: to), places: timeline.places(from: from, to: to))
        return (service, local)
    }

    /// All columns of all rows except ids, which name the person.
    struct Rows: Equatable {
        var visits: [VisitItem]
        var trips: [TripItem]
        var crossings: [CrossingItem]
        var places: [PlaceItem]

        init(visits: [VisitItem], trips: [TripItem], crossings: [CrossingItem], places: [PlaceItem]) {
            self.visits = visits.map { visit in
                var visit = visit
                visit.id = ""
                return visit
            }
            self.places = places.map { place in
                var place = place
                place.id = ""
                return place
            }
            (self.trips, self.crossings) = (trips, crossings)
        }
    }
}

/// What the service derives from open fixes, a recipient's computer derives from the same fixes in envelopes.
@Suite struct LocalFoldLawTests {
    /// How many histories: all hundred take some minutes.
    private static let histories: Range<UInt64> = isLongForm ? 0..<100 : 0..<8

    @Test func `the answers of opened envelopes are those of the service, row for row`() throws {
        var (visits, trips, gaps, crossings, places, named, late, corrected) = (0, 0, 0, 0, 0, 0, 0, 0)
        for seed in Self.histories {
            let reports = try History.reports(seed: 4000 + seed, hours: 7).filter { $0.person == History.persons[0] }
            let home = try #require(reports.first?.fix.coordinate)
            var two = try TwoPeople(seed: seed, home: home)
            try two.live(reports)
            var timeline = try two.opened()
            let middle = History.start.adding(seconds: 3 * 3600)
            for isCorrected in [false, true] {
                if isCorrected {
                    two.correct(timeline.visits(from: nil, to: nil))
                    let before = timeline.visits(from: nil, to: nil)
                    timeline = try two.opened()
                    if timeline.visits(from: nil, to: nil) != before { corrected += 1 }
                }
                for (from, to) in [(nil, nil), (middle, nil), (nil, middle), (middle, middle.adding(seconds: 3600))] {
                    let (service, local) = try two.rows(timeline, from: from, to: to)
                    #expect(service.visits == local.visits, "history \(seed), corrected: \(isCorrected)")
                    #expect(service.trips == local.trips, "history \(seed), corrected: \(isCorrected)")
                    #expect(service.crossings == local.crossings, "history \(seed), corrected: \(isCorrected)")
                    #expect(service.places == local.places, "history \(seed), corrected: \(isCorrected)")
                    guard from == nil, to == nil, !isCorrected else { continue }
                    visits += local.visits.count
                    trips += local.trips.count { $0.type == "trip" }
                    gaps += local.trips.count { $0.type == "gap" }
                    crossings += local.crossings.count
                    places += local.places.count
                    named += local.visits.count { $0.place != nil && $0.timeZone != nil }
                }
            }
            late += two.lateBatches
            two.house.stop()
        }
        // The histories have something of each.
        print(
            "\(visits) visits, \(trips) trips, \(gaps) gaps, \(crossings) crossings, \(places) places, \(late) late batches"
        )
        #expect(corrected == Self.histories.count)
        #expect(named > visits / 2, "\(named) of \(visits) visits have a name and a time zone")
        #expect([visits, trips, crossings, places].allSatisfy { $0 >= Self.histories.count } && late > 0)
        // Seldom, because a silence between two places is mostly part of a stay.
        #expect(gaps > 0 || !isLongForm)
    }
}
