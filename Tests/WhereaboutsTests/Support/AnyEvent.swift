import Geodesy
import TestSupport
import Whereabouts

/// Random events of every kind, with their streams.
struct AnyEvent {
    var random: SplitMix

    /// A random event of a kind, with a stream in which it can be; `nil` for a reserved kind.
    mutating func next(_ kind: EventKind) -> (event: Event, stream: StreamID)? {
        guard let fact = kind.fact else { return nil }
        while true {
            let person = PersonID(rawValue: .random(in: 2...5000, using: &random))
            var streams: [StreamID] = []
            if fact.streams.contains(.audit) { streams.append(.audit(person)) }
            if fact.streams.contains(.track) { streams.append(.track(person)) }
            if fact.streams.contains(.house) { streams.append(.house) }
            var sample = SampledFact(in: pick(streams), random: self)
            defer { self = sample.clear.random }
            // Random values need not fit together, for example a beginning and an end.
            if let event = try? fact.visit(nil, &sample) { return (event, sample.stream) }
        }
    }

    /// Some random events of a kind as the log has them, numbered from 1, each also as it is after its keys are gone.
    /// Empty for a reserved kind.
    static func some(of kind: EventKind) throws -> [RecordedEvent] {
        var events = AnyEvent(random: SplitMix(UInt64(kind.rawValue)))
        var made: [RecordedEvent] = []
        for number in 1...20 {
            let next = events.next(kind)
            guard let (event, stream) = next else { break }
            let encoded = EventCoding.encode(event, in: stream)
            let erased = try EventCoding.decoded(
                kind, stream, clear: encoded.clear, parts: encoded.parts.map(\.plaintext), sealed: { _ in .erased })
            for (place, event) in [event, erased].enumerated() {
                made.append(
                    RecordedEvent(
                        number: Int64(2 * number - 1 + place), stream: stream, version: 1,
                        recordedAt: Timestamp(milliseconds: 1_777_593_600_000), actor: .house,
                        correlation: Identifier128(high: 0, low: 0), cause: 0, event: event))
            }
        }
        return made
    }

    mutating func destroyedKeys() -> DestroyedKeys {
        var numbers = NumberSet()
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let first = Int64.random(in: 1...5000, using: &random)
            numbers.insert(first...(first + .random(in: 0...300, using: &random)))
        }
        let keys = (0..<Int.random(in: 1...4, using: &random)).map { _ in Int64.random(in: 1...5000, using: &random) }
        return DestroyedKeys(keys: Set(keys).sorted(), numbers: numbers)
    }

    mutating func shardSizes() -> ShardSizes {
        let numbers = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in
            ShardNumber(rawValue: .random(in: ShardNumber.range, using: &random))
        }
        return ShardSizes(
            numbers.map { number in
                ShardSize(
                    shard: number, log: Identifier128(high: random.next(), low: random.next()),
                    epoch: .random(in: 1...3, using: &random), size: .random(in: 1...5_000_000, using: &random),
                    root: Hash256(words: (random.next(), random.next(), random.next(), random.next())))
            })
    }

    mutating func keptNewest() -> KeptNewest {
        let devices = (1...Int64.random(in: 1...3, using: &random)).map { id in
            let silences: [Int64] = Bool.random(using: &random) ? [3600, 7200] : []
            return KeptNewest.Device(
                id: DeviceID(rawValue: id), newest: maybe { $0.time() },
                usable: maybe { UsableFix(timestamp: $0.time(), number: 41 + id) },
                heardAt: maybe { $0.time() }, silences: silences)
        }
        return KeptNewest(devices: devices, newest: NewestFixes())
    }

    mutating func correction() -> Correction {
        while true {
            var fields = SampledFields(random: self, person: nil)
            defer { self = fields.random }
            if let correction = try? Correction.visit(nil, &fields) { return correction }
        }
    }

    mutating func terms(withHours: Bool = true) -> GrantTerms {
        GrantTerms(
            precision: pick(Precision.allCases), includesHistory: .random(using: &random),
            asksEachTime: .random(using: &random), from: maybe { $0.time() }, until: maybe { $0.time() },
            hours: withHours ? maybe { $0.hours() } : nil)
    }

    /// Some stretches of a week in a zone whose clock is changed now and then.
    mutating func hours() -> WeeklyHours {
        var minutes = Set<Int64>()
        for _ in 0..<2 * Int.random(in: 1...6, using: &random) {
            minutes.insert(.random(in: 0...10_080, using: &random))
        }
        if minutes.count % 2 == 1 { minutes.remove(minutes.max() ?? 0) }
        let ends = minutes.sorted()
        let ranges = stride(from: 0, to: ends.count, by: 2).map { ends[$0]..<ends[$0 + 1] }
        var at: Int64 = .random(in: 0...28_000_000, using: &random) * 60
        let changes = (0..<Int.random(in: 0...5, using: &random)).map { _ in
            at += .random(in: 1...300_000, using: &random) * 60
            return ZoneRules.Change(
                at: Timestamp(milliseconds: at * 1000), offsetSeconds: .random(in: -48...56, using: &random) * 900)
        }
        guard let zone = ZoneRules(name: text(), offsetSeconds: 3600, changes: changes),
            let hours = WeeklyHours(ranges: ranges.isEmpty ? [0..<60] : ranges, zone: zone)
        else { preconditionFailure() }
        return hours
    }

    // MARK: Small things

    mutating func maybe<T>(_ make: (inout AnyEvent) -> T) -> T? { Bool.random(using: &random) ? make(&self) : nil }
    mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &random)] }
    mutating func ordinal() -> Int64 {
        Int64(bitPattern: random.next() >> UInt64.random(in: 11...62, using: &random)) | 1
    }
    mutating func time() -> Timestamp {
        Timestamp(milliseconds: .random(in: -1_000_000_000...4_102_444_800_000, using: &random))
    }
    mutating func identifier() -> Identifier128 { Identifier128(random: random.next(), random.next()) }
    mutating func hash() -> Hash256 { Hash256(words: (random.next(), random.next(), random.next(), random.next())) }
    mutating func text() -> String { pick(["", "late for dinner", "Straße 7", "東京", "a\0b", "😀"]) }
    mutating func handle() -> Handle {
        Handle(pick(["walker", "a", "friend-2", "x.y_z"])) ?? { preconditionFailure() }()
    }

    mutating func bytes(upTo limit: Int) -> [UInt8] {
        (0..<Int.random(in: 0...limit, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    /// As receivers give them, to seven decimals, and as computers do, to the last bit; the corners too.
    mutating func degrees(_ limit: Double) -> Double {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: pick([0, -0.0, limit, -limit, 1e-7, -1e-7, 0.1, .leastNonzeroMagnitude])
        case 1...3: (Double.random(in: -limit...limit, using: &random) * 1e7).rounded() / 1e7
        default: .random(in: -limit...limit, using: &random)
        }
    }

    mutating func real() -> Double {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: pick([0, -0.0, -1, 2_147_483_647, 2_147_483_648, 1e300, -1e-300, .infinity])
        case 5: Double(Int.random(in: -70_000...70_000, using: &random)) / pick([10, 100, 1000])
        case 1: Double(Int.random(in: -500...9000, using: &random))
        case 2: Double(Float.random(in: 0...100, using: &random))
        default: .random(in: -1000...10_000, using: &random)
        }
    }

    mutating func coordinate() -> Coordinate {
        (try? Coordinate(latitude: degrees(90), longitude: degrees(180))) ?? { preconditionFailure() }()
    }

    mutating func region() -> Region {
        let radius = abs(degrees(180)) * 100 + 0.5
        guard let circle = try? Circle(center: coordinate(), radiusMeters: radius) else { preconditionFailure() }
        guard Bool.random(using: &random) else {
            return Region(identifier: text(), area: .circle(circle), waypoint: maybe { $0.time() })
        }
        // A ring round a place, wherever it is: the corners of a small box, away from the poles.
        let place = coordinate()
        let (south, west) = (min(80, max(-80, place.latitude)), place.longitude)
        let corners = [(0.0, 0.0), (0, 0.5), (0.5, 0.75), (0.5, 0)].compactMap { north, east in
            let longitude = west + east > 180 ? west + east - 360 : west + east
            return try? Coordinate(latitude: south + north, longitude: longitude)
        }
        guard let polygon = try? Polygon(vertices: corners) else { preconditionFailure() }
        return Region(
            identifier: text(), area: .polygon(polygon), notifyOnEntry: .random(using: &random),
            notifyOnExit: .random(using: &random))
    }

    mutating func fix() -> Fix {
        var fix = Fix(timestamp: time(), coordinate: coordinate(), horizontalAccuracy: maybe { $0.real() })
        fix.altitude = maybe { $0.real() }
        fix.ellipsoidalAltitude = maybe { $0.real() }
        fix.verticalAccuracy = maybe { $0.real() }
        fix.floor = maybe { .random(in: -5...200, using: &$0.random) }
        fix.speed = maybe { $0.real() }
        fix.speedAccuracy = maybe { $0.real() }
        fix.course = maybe { $0.real() }
        fix.courseAccuracy = maybe { $0.real() }
        fix.isSimulatedBySoftware = maybe { .random(using: &$0.random) }
        fix.isProducedByAccessory = maybe { .random(using: &$0.random) }
        fix.batteryLevel = maybe { $0.real() }
        fix.clientID = maybe { $0.text() }
        fix.receivedAt = maybe { $0.time() }
        fix.remainder = maybe { $0.text() }
        return fix
    }
}
