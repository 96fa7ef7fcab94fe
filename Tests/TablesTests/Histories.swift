import Geodesy
import TestSupport

@testable import Whereabouts

/// A log in memory: events get numbers and versions in the order they are added.
struct MemoryLog {
    private(set) var events: [RecordedEvent] = []
    private var versions: [StreamID: Int64] = [:]

    mutating func add(
        _ event: Event, to stream: StreamID, at moment: Timestamp, by actor: PrincipalID = .house
    ) {
        versions[stream, default: 0] += 1
        events.append(
            RecordedEvent(
                number: Int64(events.count + 1), stream: stream, version: versions[stream] ?? 0, recordedAt: moment,
                actor: actor, correlation: RequestID(high: 0, low: 0), cause: 0, event: event))
    }

    mutating func add(_ report: Report) {
        add(
            .fixReported(device: report.device, answering: nil, .open(report.fix)), to: .track(report.person),
            at: report.fix.receivedAt ?? report.fix.timestamp, by: report.device.principal)
    }

    /// The same log after the person's keys are gone.
    func afterErasing(_ person: PersonID) -> [RecordedEvent] {
        events.map { event in
            guard event.stream.person == person, case .fixReported(let device, let query, _) = event.event else {
                if case .regionAdded(let id, _) = event.event, event.stream.person == person {
                    return event.saying(.regionAdded(id, .erased))
                }
                return event
            }
            return event.saying(.fixReported(device: device, answering: query, .erased))
        }
    }
}

extension RecordedEvent {
    func saying(_ other: Event) -> RecordedEvent {
        RecordedEvent(
            number: number, stream: stream, version: version, recordedAt: recordedAt, actor: actor,
            correlation: correlation, cause: cause, event: other)
    }
}

struct Report {
    let person: PersonID
    let device: DeviceID
    let fix: Fix
}

/// Some days of two persons with two devices each: stays, ways, gaps, spikes, twins, equal moments, invalid fixes, wrong
/// clocks. In the order of device time; every fix says when it was received.
enum History {
    static let persons = [PersonID(rawValue: 2), PersonID(rawValue: 5)]
    static let start = Timestamp(milliseconds: 1_777_593_600_000)

    static func reports(seed: UInt64, hours: Int64 = 30) throws -> [Report] {
        var dice = SplitMix(seed)
        var reports: [Report] = []
        for person in persons {
            var places: [Coordinate] = []
            let home = try Coordinate(
                latitude: .random(in: -89...89, using: &dice), longitude: .random(in: -180...180, using: &dice))
            places.append(home)
            for _ in 0..<3 {
                places.append(
                    Geodesic.direct(
                        from: home, initialAzimuth: .random(in: -180...180, using: &dice),
                        distanceMeters: .random(in: 100...6000, using: &dice)))
            }
            var now = start
            var here = home
            while now < start.adding(seconds: hours * 3600) {
                let stays = Int64.random(in: 100...9000, using: &dice)
                let interval: Int64 = [15, 60, 300, 900].randomElement(using: &dice) ?? 60
                let end = now.adding(seconds: stays)
                while now < end {
                    try report(here, now, person, &dice, &reports)
                    now = now.adding(seconds: dice.chance(0.02) ? 5000 : interval)
                }
                let target = places.randomElement(using: &dice) ?? home
                let way = Geodesic.inverse(from: here, to: target)
                var gone = 0.0
                while gone < way.distanceMeters {
                    try report(
                        Geodesic.direct(from: here, initialAzimuth: way.initialAzimuth, distanceMeters: gone), now,
                        person,
                        &dice, &reports)
                    gone += 300
                    now = now.adding(seconds: 30)
                }
                here = target
            }
        }
        return reports
    }

    private static func report(
        _ place: Coordinate, _ now: Timestamp, _ person: PersonID, _ dice: inout SplitMix, _ reports: inout [Report]
    ) throws {
        let accuracies: [Double] = [4, 8.5, 20, 65, 300]
        let accuracy = accuracies.randomElement(using: &dice) ?? 8
        let off =
            dice.chance(0.01) ? Double.random(in: 1000...50_000, using: &dice) : .random(in: 0...accuracy, using: &dice)
        let seen = Geodesic.direct(
            from: place, initialAzimuth: .random(in: -180...180, using: &dice), distanceMeters: off)
        // Half with seven decimals, as receivers give them, half with all digits.
        let exact = dice.chance(0.5)
        func digits(_ degrees: Double) -> Double { exact ? degrees : (degrees * 1e7).rounded() / 1e7 }
        var fix = Fix(
            timestamp: now,
            coordinate: try Coordinate(latitude: digits(seen.latitude), longitude: digits(seen.longitude)),
            horizontalAccuracy: dice.chance(0.01) ? -1 : dice.chance(0.02) ? nil : accuracy)
        if dice.chance(0.3) { fix.speed = Double(Int.random(in: 0...20, using: &dice)) / 4 }
        fix.receivedAt = now.adding(seconds: dice.chance(0.01) ? -90 : 1)
        let device = DeviceID(rawValue: person.rawValue + (dice.chance(0.8) ? 1 : 2))
        reports.append(Report(person: person, device: device, fix: fix))
        if dice.chance(0.02) {
            var twin = fix
            twin.batteryLevel = 0.5
            if dice.chance(0.5) { twin.horizontalAccuracy = 12 }
            twin.clientID = "another"
            reports.append(Report(person: person, device: device, fix: twin))
        }
        if dice.chance(0.02) {
            var other = fix
            other.horizontalAccuracy = 30
            reports.append(Report(person: person, device: DeviceID(rawValue: person.rawValue + 2), fix: other))
        }
    }

    /// The reports' events, regions first: one for each person, around where the first fix is.
    static func log(_ reports: [Report]) throws -> MemoryLog {
        var log = MemoryLog()
        for (index, person) in persons.enumerated() {
            let center = reports.filter { $0.person == person }.map(\.fix).min { $0.timestamp < $1.timestamp }?
                .coordinate
            guard let center else { continue }
            for radius in [100.0, 900] {
                let id = RegionID(rawValue: Int64(index * 10) + Int64(radius))
                let region = Region(
                    identifier: "around \(radius)", circle: try Circle(center: center, radiusMeters: radius))
                log.add(.regionAdded(id, .open(region)), to: .audit(person), at: start)
            }
        }
        for report in reports { log.add(report) }
        return log
    }
}
