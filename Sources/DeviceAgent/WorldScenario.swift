internal import CoreLocation
internal import Foundation
internal import JSON
internal import LocationSharingApp
internal import Whereabouts

/// A world of phones on simulated time with a service just for it. `whereabouts simulate` plays one if the scenario
/// names no `service`.
///
///     {"start": "2027-01-04T00:00:00Z", "hours": 24, "seed": 1,
///      "network": {"lossPercent": 10, "delaySeconds": 2},
///      "phones": [
///        {"person": "commuter", "count": 100, "profile": "iOS18",
///         "user": [{"prompt": "always", "choice": "whileUsing"}, {"prompt": "keepAlways", "choice": "always"}],
///         "reports": ["visits", "significantChanges", "regions"],
///         "home": [48.2, 16.35], "spreadMeters": 5000, "everySeconds": 60, "sigmaMeters": 5, "driftMeters": 10,
///         "agenda": [{"staySeconds": 28800}, {"moveMeters": [4000, 1500], "metersPerSecond": 12},
///                    {"outageSeconds": 600}, {"moveMeters": [0, 0], "metersPerSecond": 12}],
///         "regions": [{"id": "home", "meters": 150}],
///         "beacons": [{"id": "office", "uuid": "0a1b2c3d-0000-4000-8000-000000000001", "atMeters": [4000, 1500]}]}],
///      "askers": [{"person": "friend", "asks": "commuter", "everySeconds": 600, "purpose": "dinner",
///                  "expect": ["answered", "answeredFromLastKnown"]}]}
///
/// `network` has the faults of requests, answers and pushes. `moveMeters` is the goal of a move, and `atMeters`
/// the place of a beacon, in meters east and north of home. When an agenda is over, it starts again.
/// `newTokenEverySeconds` says how often the system changes the device token, which ends the old one;
/// `opensEverySeconds` says how often the user opens the app, which then notices (0: never). Instead of home and
/// agenda, `track` may name a file; regions and beacons need a home. A phone without `user` already has Always. Other
/// members default to the properties below; an unknown key is refused.
struct WorldScenario {
    /// Phones of one world at most.
    static let phonesMax = 10_000
    /// Fixes of all agendas of one world at most: some 200 bytes each are kept.
    static let fixesMax = 20_000_000.0
    /// The earliest start, and the first one that is too late: the service takes no older fix, and phones would write
    /// longer times.
    private static let starts = Limits.oldestFix.seconds..<4_102_444_800

    var start: Date
    var hours: Double
    var seed: UInt64
    var lossPercent: Double
    var delaySeconds: Double
    var phones: [Phones]
    var askers: [Asker]

    /// Phones that are alike.
    struct Phones {
        var person: String
        var count: Int
        var profile: SimulationProfile
        var user: UserScript?
        var reports: LocationReporter.Interests
        var way: Way
        var spreadMeters: Double
        var everySeconds: Double
        var sigmaMeters: Double
        var driftMeters: Double
        /// How often the system changes the device token, and the user opens the app; 0 for never.
        var newTokenEverySeconds: Double
        var opensEverySeconds: Double
        /// Circles around home: name and radius.
        var regions: [(id: String, meters: Double)]
        /// Beacons, each the only one of a region of this name: meters east and north of home.
        var beacons: [(id: String, uuid: UUID, east: Double, north: Double)]

        /// The handle of one of them, counted from 1.
        func handle(_ number: Int) -> String { count == 1 ? person : "\(person)-\(number)" }
    }

    enum Way {
        case agenda(home: CLLocationCoordinate2D, [Step])
        case track(SimulatedTrack)
    }

    enum Step {
        case stay(seconds: Double)
        case outage(seconds: Double)
        case move(east: Double, north: Double, metersPerSecond: Double)
    }

    /// A person who asks for the people of the phones, one after the other.
    struct Asker {
        var person: String
        var asks: String
        var everySeconds: Double
        var fromSeconds: Double
        var deadlineSeconds: Int
        var purpose: String
        var expect: Set<String>
    }

    /// Reads a scenario.
    ///
    /// - Parameters:
    ///   - directory: the base of relative paths.
    ///   - now: a world without a `start` begins at the next midnight UTC.
    /// - Throws: ``ScenarioError`` with the first thing wrong, in one sentence.
    init(_ root: JSONValue, directory: String, now: Date) throws(ScenarioError) {
        let members = try ScenarioMembers(
            root, named: "The scenario", known: ["start", "hours", "seed", "network", "phones", "askers"])
        if let text = members["start"] {
            guard let date = text.string.flatMap({ ISO8601DateFormatter().date(from: $0) }),
                Self.starts.contains(date.timeIntervalSince1970)
            else { throw ScenarioError("start must be a time like 2027-01-04T00:00:00Z, from 1990 to 2099.") }
            start = date
        } else {
            let days = (now.timeIntervalSince1970 / 86_400).rounded(.down) + 1
            start = Date(timeIntervalSince1970: days * 86_400)
        }
        hours = try members.number("hours", in: 0.01...(24 * 31), or: 24)
        seed = UInt64(try members.number("seed", in: 0...9e15, or: 0))
        if let network = members["network"] {
            let network = try ScenarioMembers(network, named: "network", known: ["lossPercent", "delaySeconds"])
            lossPercent = try network.number("lossPercent", in: 0...100, or: 0)
            delaySeconds = try network.number("delaySeconds", in: 0...3600, or: 0)
        } else {
            (lossPercent, delaySeconds) = (0, 0)
        }
        phones = []
        for value in try members.list("phones") {
            phones.append(try Phones(value, number: phones.count + 1, directory: directory))
        }
        guard (1...Self.phonesMax).contains(phones.reduce(0, { $0 + $1.count })) else {
            throw ScenarioError("phones must be a list of 1 to \(Self.phonesMax) phones.")
        }
        var fixes = 0.0
        for case let phones in phones {
            if case .agenda = phones.way { fixes += Double(phones.count) * hours * 3600 / phones.everySeconds }
        }
        guard fixes <= Self.fixesMax else {
            throw ScenarioError(
                "The phones would have \(Int(fixes)) fixes, above \(Int(Self.fixesMax)): raise everySeconds, or lower hours or count."
            )
        }
        askers = []
        for value in try members.list("askers") {
            let asker = try Asker(value, number: askers.count + 1)
            guard phones.contains(where: { $0.person == asker.asks }) else {
                throw ScenarioError("Asker \(askers.count + 1) asks \(asker.asks), which no phones are of.")
            }
            askers.append(asker)
        }
        try checkPersons()
    }

    /// Each person is there once; one that asks is a phone's person or another one.
    private func checkPersons() throws(ScenarioError) {
        var handles: Set<String> = []
        for phones in phones {
            for number in 1...phones.count where !handles.insert(phones.handle(number)).inserted {
                throw ScenarioError("There are two phones of \(phones.handle(number)): a person has one.")
            }
        }
        for (index, asker) in askers.enumerated()
        where phones.contains(where: { $0.count > 1 && $0.person == asker.person }) {
            throw ScenarioError(
                "Asker \(index + 1) must be one person; those of \(asker.person) are \(asker.person)-1 and so on.")
        }
    }
}

extension WorldScenario.Phones {
    fileprivate init(_ value: JSONValue, number: Int, directory: String) throws(ScenarioError) {
        let members = try ScenarioMembers(
            value, named: "Phone \(number)",
            known: [
                "person", "count", "profile", "user", "reports", "home", "agenda", "track", "spreadMeters",
                "everySeconds", "sigmaMeters", "driftMeters", "regions", "beacons", "newTokenEverySeconds",
                "opensEverySeconds",
            ])
        count = Int(try members.number("count", in: 1...Double(WorldScenario.phonesMax), or: 1))
        person = try members.handle("person", suffix: count == 1 ? "-phone" : "-\(count)-phone")
        guard members["profile"] == nil || members["profile"]?.string == "iOS18" else {
            throw ScenarioError("profile of phone \(number) must be iOS18: older systems have no location pushes.")
        }
        profile = .iOS18
        user = members["user"] == nil ? nil : try Self.user(members.list("user"), number: number)
        reports = try members.reports(number) ?? .frugal
        spreadMeters = try members.number("spreadMeters", in: 0...1e6, or: 0)
        everySeconds = try members.number("everySeconds", in: 1...3600, or: 60)
        sigmaMeters = try members.number("sigmaMeters", in: 0...10_000, or: 5)
        driftMeters = try members.number("driftMeters", in: 0...10_000, or: 0)
        newTokenEverySeconds = try members.number("newTokenEverySeconds", in: 0...1e7, or: 0)
        opensEverySeconds = try members.number("opensEverySeconds", in: 0...1e7, or: 0)
        if members["home"] != nil {
            let (latitude, longitude) = try members.pair("home", upTo: 180)
            let home = CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
            guard CLLocationCoordinate2DIsValid(home), members["track"] == nil else {
                throw ScenarioError("home of phone \(number) must be [latitude, longitude], without a track.")
            }
            var steps: [WorldScenario.Step] = []
            for step in try members.list("agenda") { steps.append(try WorldScenario.Step(step, number: number)) }
            way = .agenda(home: home, steps.isEmpty ? [.stay(seconds: 86_400)] : steps)
        } else {
            let path = try members.text("track")
            for key in ["agenda", "regions", "beacons"] where members[key] != nil {
                throw ScenarioError("\(key) of phone \(number) is about a home, which a track does not have.")
            }
            way = .track(try SimulatedTrack(file: path.hasPrefix("/") ? path : "\(directory)/\(path)"))
        }
        regions = []
        for region in try members.list("regions") {
            let region = try ScenarioMembers(region, named: "A region of phone \(number)", known: ["id", "meters"])
            regions.append((try region.text("id"), try region.number("meters", in: 1...100_000, or: 150)))
        }
        beacons = []
        for beacon in try members.list("beacons") {
            let beacon = try ScenarioMembers(
                beacon, named: "A beacon of phone \(number)", known: ["id", "uuid", "atMeters"])
            guard let uuid = UUID(uuidString: try beacon.text("uuid")) else {
                throw ScenarioError("uuid of a beacon of phone \(number) must be a UUID.")
            }
            let (east, north) = try beacon.pair("atMeters", upTo: 1e6)
            beacons.append((try beacon.text("id"), uuid, east, north))
        }
        let ids = regions.map(\.id) + beacons.map(\.id)
        guard ids.count <= 20, Set(ids).count == ids.count else {
            throw ScenarioError("Phone \(number) monitors at most 20 regions and beacons, each of its own id.")
        }
    }

    private static func user(_ list: [JSONValue], number: Int) throws(ScenarioError) -> UserScript {
        var answers: [UserScript.Answer] = []
        for answer in list {
            let answer = try ScenarioMembers(
                answer, named: "An answer of user \(number)", known: ["prompt", "choice", "precise", "afterSeconds"])
            guard let prompt = Prompt(rawValue: try answer.text("prompt")),
                let choice = Choice(rawValue: try answer.text("choice"))
            else { throw ScenarioError("An answer of user \(number) has a prompt or choice that does not exist.") }
            guard let precise = answer["precise"].map({ $0.bool }) ?? true else {
                throw ScenarioError("precise of an answer of user \(number) must be true or false.")
            }
            answers.append(
                UserScript.Answer(
                    prompt, choice, precise: precise,
                    after: try answer.number("afterSeconds", in: 0...86_400, or: 1)))
        }
        return UserScript(answers)
    }
}

extension WorldScenario.Step {
    fileprivate init(_ value: JSONValue, number: Int) throws(ScenarioError) {
        let step = try ScenarioMembers(
            value, named: "A step of phone \(number)",
            known: ["staySeconds", "outageSeconds", "moveMeters", "metersPerSecond"])
        if step["staySeconds"] != nil {
            self = .stay(seconds: try step.number("staySeconds", in: 1...1e7, or: 0))
        } else if step["outageSeconds"] != nil {
            self = .outage(seconds: try step.number("outageSeconds", in: 1...1e7, or: 0))
        } else {
            guard step["moveMeters"] != nil else {
                throw ScenarioError("A step of phone \(number) must have staySeconds, outageSeconds or moveMeters.")
            }
            let (east, north) = try step.pair("moveMeters", upTo: 1e6)
            self = .move(
                east: east, north: north,
                metersPerSecond: try step.number("metersPerSecond", in: 0.1...300, or: 1.4))
        }
    }
}

extension WorldScenario.Asker {
    fileprivate static let ends: Set<String> = ["answered", "answeredFromLastKnown", "noAnswer"]

    fileprivate init(_ value: JSONValue, number: Int) throws(ScenarioError) {
        let members = try ScenarioMembers(
            value, named: "Asker \(number)",
            known: ["person", "asks", "everySeconds", "fromSeconds", "deadlineSeconds", "purpose", "expect"])
        person = try members.handle("person")
        asks = try members.text("asks")
        everySeconds = try members.number("everySeconds", in: 1...1e7, or: 3600)
        fromSeconds = try members.number("fromSeconds", in: 0...1e7, or: everySeconds)
        deadlineSeconds = Int(try members.number("deadlineSeconds", in: 5...900, or: 60))
        purpose = members["purpose"] == nil ? "simulation" : try members.text("purpose")
        guard let list = members["expect"] else {
            expect = ["answered", "answeredFromLastKnown"]
            return
        }
        expect = Set(list.array.map { $0.map { $0.string ?? "" } } ?? [])
        guard !expect.isEmpty, expect.isSubset(of: Self.ends) else {
            throw ScenarioError(
                "expect of asker \(number) must be a list of answered, answeredFromLastKnown and noAnswer.")
        }
    }
}
