import Geodesy
import TestSupport
import Testing

@testable import Whereabouts

@Suite struct VisitCorrectionsTests {
    private static func at(_ minute: Int64) -> Timestamp { VisitDerivationTests.midnight.adding(seconds: minute * 60) }

    private static func time(_ from: Int64, _ to: Int64) -> Range<Timestamp> { at(from)..<at(to) }

    /// A visit of minutes of a day, with a fix each, the further north the later.
    private static func visit(_ from: Int64, _ to: Int64?) -> Visit {
        guard let coordinate = try? Coordinate(latitude: Double(from) / 1000, longitude: 16) else {
            preconditionFailure()
        }
        return Visit(
            id: UInt64(1000 + from), arrival: at(from), departure: to.map(at), coordinate: coordinate,
            horizontalAccuracy: 10, fixes: (to ?? from) - from, firstReported: at(from), departureReported: to.map(at))
    }

    private struct NoFailure: Error {}

    private static func corrected(_ visits: [Visit], _ corrections: [Correction]) -> [Visit] {
        var told = CorrectedVisits(VisitCorrections(corrections))
        var found: [Visit] = []
        for visit in visits { found += told.add(visit) { (_, _) throws(Never) in nil } }
        if let end = told.end() { found.append(end) }
        return found
    }

    private static func times(_ visits: [Visit], _ corrections: [Correction]) -> [[Int64?]] {
        corrected(visits, corrections).map { visit in
            [visit.arrival, visit.departure].map { $0.map { ($0.milliseconds - at(0).milliseconds) / 60_000 } }
        }
    }

    private static let day = [visit(0, 60), visit(70, 90), visit(100, 160), visit(200, nil)]

    @Test func `visits of a time that were one are told as one, at the place of the longest`() {
        let told = Self.corrected(Self.day, [.merge(Self.time(-5, 165))])
        #expect(told.map(\.id) == [1000, 1200])
        #expect(told[0].departure == Self.at(160) && told[0].fixes == 140)
        #expect(told[0].coordinate == Self.day[0].coordinate)
        // Half of the first is not more than half.
        #expect(Self.times(Self.day, [.merge(Self.time(30, 165))]) == [[0, 60], [70, 160], [200, nil]])
        // Overlapping corrections are one range of time; an open visit belongs to the time of its arrival.
        #expect(
            Self.times(Self.day, [.merge(Self.time(65, 120)), .merge(Self.time(110, 300))]) == [[0, 60], [70, nil]])
    }

    @Test func `a visit that was two is told as two, each with a name of its own`() {
        let told = Self.corrected(Self.day, [.split(at: Self.at(20)), .split(at: Self.at(240))])
        #expect(
            Self.times(Self.day, [.split(at: Self.at(20)), .split(at: Self.at(240))]) == [
                [0, 20], [20, 60], [70, 90], [100, 160], [200, 240], [240, nil],
            ])
        #expect(told[0].id == 1000 && Set(told.map(\.id)).count == 6)
        #expect(told == Self.corrected(Self.day, [.split(at: Self.at(240)), .split(at: Self.at(20))]))
        // Between visits, and at their edges, there is nothing to cut.
        #expect(Self.corrected(Self.day, [65, 0, 60, 100].map { .split(at: Self.at($0)) }) == Self.day)
    }

    @Test func `a time without a visit has none, and what lies half in it stays`() {
        #expect(Self.times(Self.day, [.notVisit(Self.time(65, 130))]) == [[0, 60], [100, 160], [200, nil]])
        #expect(Self.times(Self.day, [.notVisit(Self.time(65, 131))]) == [[0, 60], [200, nil]])
        #expect(Self.times(Self.day, [.notVisit(Self.time(190, 210))]) == [[0, 60], [70, 90], [100, 160]])
        #expect(
            Self.times(Self.day, [.notVisit(Self.time(65, 95)), .merge(Self.time(-1, 165))]) == [
                [0, 160], [200, nil],
            ])
    }

    @Test func `of corrections that contradict each other the later counts`() {
        let merge = Correction.merge(Self.time(-5, 165)), split = Correction.split(at: Self.at(80))
        #expect(Self.times(Self.day, [merge, split]) == [[0, 80], [80, 160], [200, nil]])
        #expect(Self.times(Self.day, [split, merge]) == [[0, 160], [200, nil]])
    }

    /// The cut visit's place is sought again, by the fixes of each part.
    @Test func `each part of a visit has the place of its own fixes`() throws {
        let transform = GeocentricTransform()
        let north = try Coordinate(latitude: 48.001, longitude: 16), south = try Coordinate(latitude: 48, longitude: 16)
        var told = CorrectedVisits(VisitCorrections([.split(at: Self.at(20))]))
        var parts: [Visit] = []
        parts += told.add(Self.day[0]) { (from, _) throws(Never) in
            let here = from < Self.at(20) ? south : north
            let fixes = (0..<5).map { minute in
                StoredFix(
                    device: MemoryTimeline.device, timestamp: from.adding(seconds: minute), coordinate: here,
                    horizontalAccuracy: 10, receivedAt: nil)
            }
            return VisitSpot(of: fixes, transform)
        }
        if let end = told.end() { parts.append(end) }
        #expect(parts.map(\.fixes) == [5, 5])
        for (part, place) in zip(parts, [south, north]) {
            #expect(Geodesic.distanceMeters(from: part.coordinate, to: place) < 0.001)
        }
        #expect(VisitSpot(of: [], transform) == nil)
    }

    /// A page may begin anywhere: it needs earlier visits only from ``VisitCorrections/start(for:arrival:)`` on.
    @Test(arguments: 1...40) func `corrected from any moment on, visits are those of the whole`(seed: UInt64) {
        var random = SplitMix(seed)
        var visits: [Visit] = []
        var minute: Int64 = 0
        for _ in 0..<30 {
            minute += .random(in: 1...40, using: &random)
            let from = minute
            minute += .random(in: 3...90, using: &random)
            visits.append(Self.visit(from, visits.count == 29 ? nil : minute))
        }
        let corrections: [Correction] = (0..<12).map { _ in
            let from = Int64.random(in: 0...minute, using: &random)
            let time = Self.time(from, from + .random(in: 1...200, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return .split(at: Self.at(from))
            case 1: return .notVisit(time)
            default: return .merge(time)
            }
        }
        let whole = Self.corrected(visits, corrections)
        let plan = VisitCorrections(corrections)
        for _ in 0..<40 {
            let from = Self.at(.random(in: -10...minute, using: &random))
            let to = from.adding(seconds: .random(in: 60...30_000, using: &random))
            let there = visits.last { $0.arrival <= from && $0.departure.map { $0 > from } ?? true }
            let start = plan.start(for: from, arrival: there?.arrival)
            let part = visits.filter { $0.departure.map { $0 > start } ?? true }
            func shown(_ visits: [Visit]) -> [Visit] {
                visits.filter { $0.arrival < to && $0.departure.map { $0 > from } ?? true }
            }
            #expect(shown(Self.corrected(part, corrections)) == shown(whole))
        }
    }

    /// The cells of the grid are 0.01° high, from 0.00 to 0.01.
    @Test func `a cell has the names of its places, and no others`() throws {
        func at(_ latitude: Double, _ longitude: Double) throws -> Coordinate {
            try Coordinate(latitude: latitude, longitude: longitude)
        }
        let cell = KilometerCell.center(of: try at(48.205, 16.3698))
        let names = VisitCorrections([
            .rename(try at(48.2099, 16.3698), "Home"), .rename(try at(48.2111, 16.3698), "Next door"),
            .rename(try at(48.2021, 16.3698), "Bakery"), .rename(try at(48.205, 17.3698), "Bratislava"),
        ])
        #expect(names.names(inCellAt: cell) == "Bakery / Home")
        #expect(names.names(inCellAt: KilometerCell.center(of: try at(48.215, 16.3698))) == "Next door")
        #expect(names.names(inCellAt: KilometerCell.center(of: try at(48.225, 16.3698))) == nil)
        #expect(VisitCorrections([]).names(inCellAt: cell) == nil)
        // More would list a neighborhood.
        let street = try (0...VisitCorrections.namesPerCell).map { number in
            Correction.rename(try at(48.2005 + 0.002 * Double(number), 16.3698), "House \(number)")
        }
        #expect(VisitCorrections(street).names(inCellAt: cell) == nil)
        #expect(VisitCorrections(street.dropLast()).names(inCellAt: cell) == "House 0 / House 1 / House 2")
    }

    @Test func `a place is called by the nearest name within reach, the latest of one spot`() throws {
        let home = try Coordinate(latitude: 48.2, longitude: 16.37)
        func off(_ meters: Double) -> Coordinate {
            Geodesic.direct(from: home, initialAzimuth: 30, distanceMeters: meters)
        }
        let names = VisitCorrections([.rename(home, "Old"), .rename(off(60), "Café"), .rename(off(5), "Home")])
        #expect(names.name(at: home) == "Home" && names.name(at: off(25)) == "Home")
        #expect(names.name(at: off(40)) == "Café" && names.name(at: off(135)) == "Café")
        #expect(names.name(at: off(145)) == nil)
        #expect(names.keepsVisits)
    }
}
