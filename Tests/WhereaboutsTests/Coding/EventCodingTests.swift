import Geodesy
import TestSupport
import Testing
import Whereabouts

@Suite struct EventCodingTests {
    @Test(arguments: EventKind.allCases)
    func `every event comes back equal, and encoding it again gives the same bytes`(kind: EventKind) throws {
        var events = AnyEvent(random: SplitMix(UInt64(kind.rawValue)))
        for _ in 0..<400 {
            let next = events.next(kind)
            let (event, stream) = try #require(next)
            let encoded = EventCoding.encode(event, in: stream)
            #expect(encoded.kind == kind)
            let back = try EventCoding.decoded(
                kind, stream, clear: encoded.clear, parts: encoded.parts.map(\.plaintext))
            #expect(back == event)
            let again = EventCoding.encode(back, in: stream)
            #expect(again.clear == encoded.clear)
            #expect(again.parts.map(\.plaintext) == encoded.parts.map(\.plaintext))
        }
    }

    @Test func `events written into the same bytes are those written alone`() throws {
        var events = AnyEvent(random: SplitMix(21))
        var facts = FactWriter()
        for _ in 0..<3 {
            facts.reset()
            let written = EventKind.allCases.shuffled(using: &events.random).compactMap { kind in
                events.next(kind).map { (event: $0, stream: $1, encoded: facts.write($0, in: $1, at: nil)) }
            }
            #expect(written.count == EventKind.allCases.count)
            for (event, stream, encoded) in written {
                let alone = EventCoding.encode(event, in: stream)
                #expect(encoded.kind == alone.kind)
                #expect(facts.withClear(of: encoded, Array.init) == alone.clear)
                try #require(encoded.parts.count == alone.parts.count)
                for index in alone.parts.indices {
                    let part = facts.parts(of: encoded)[encoded.parts.lowerBound + index]
                    #expect(facts.withPlaintext(of: part, Array.init) == alone.parts[index].plaintext)
                    #expect(part.person == alone.parts[index].person)
                    #expect(part.keyClass == alone.parts[index].keyClass)
                }
            }
        }
    }

    @Test func `no float and no time loses a bit on its way through an event`() throws {
        var events = AnyEvent(random: SplitMix(99))
        for round in 0..<4000 {
            let fix = events.fix()
            let track = StreamID.track(PersonID(rawValue: 2))
            let near = fix.timestamp.milliseconds + Int64.random(in: -100_000...100_000, using: &events.random)
            let recordedAt: Timestamp? =
                switch round % 4 {
                case 0: nil
                case 1: Timestamp(milliseconds: [.min, .max].randomElement(using: &events.random) ?? 0)
                default: Timestamp(milliseconds: near)
                }
            let encoded = EventCoding.encode(
                .fixReported(device: DeviceID(rawValue: 3), answering: nil, .open(fix)), in: track, at: recordedAt)
            guard
                case .fixReported(_, _, .open(let back)) = try EventCoding.decoded(
                    .fixReported, track, at: recordedAt, clear: encoded.clear, parts: encoded.parts.map(\.plaintext))
            else {
                Issue.record("A fix came back as something else.")
                return
            }
            #expect(back == fix)
            #expect(back.speed?.bitPattern == fix.speed?.bitPattern)
            #expect(back.batteryLevel?.bitPattern == fix.batteryLevel?.bitPattern)
            #expect(back.coordinate.latitude.bitPattern == fix.coordinate.latitude.bitPattern)
            #expect(back.coordinate.longitude.bitPattern == fix.coordinate.longitude.bitPattern)
            #expect(back.horizontalAccuracy?.bitPattern == fix.horizontalAccuracy?.bitPattern)
            #expect(back.altitude?.bitPattern == fix.altitude?.bitPattern)
        }
    }

    /// The lines of the table were written by PyPI cbor2; the values beside them by hand.
    @Test func `every form that version 1 can store is read for ever, and written the same`() throws {
        let lines = try Repository.rows(of: "events-v1.txt")
        #expect(lines.count == GoldenEvents.all.count)
        for line in lines {
            let fields = line.split(separator: " ")
            let expected = try #require(GoldenEvents.all[String(fields[0])], "\(fields[0])")
            let kind = try #require(Int64(fields[1]).flatMap(EventKind.init(rawValue:)))
            #expect(fields[0].hasPrefix(kind.name))
            let stream = StreamID(rawValue: try #require(Int64(fields[2])))
            let clear = try #require(bytes(hex: fields[3]))
            let parts = fields[4] == "-" ? [] : fields[4].split(separator: ",").compactMap { bytes(hex: $0) }
            #expect(try EventCoding.decoded(kind, stream, clear: clear, parts: parts) == expected)
            let encoded = EventCoding.encode(expected, in: stream)
            #expect(encoded.clear == clear)
            #expect(encoded.parts.map(\.plaintext) == parts)
        }
        let kinds = Set(lines.compactMap { Int64($0.split(separator: " ")[1]) })
        #expect(kinds == Set(EventKind.allCases.map(\.rawValue)))
    }

    @Test func `a fix has the stored form of its time of recording, for ever`() throws {
        let lines = try Repository.rows(of: "fixes-v1.txt")
        #expect(lines.count == GoldenEvents.fixes.count)
        for line in lines {
            let fields = line.split(separator: " ")
            let fix = try #require(GoldenEvents.fixes[String(fields[0])], "\(fields[0])")
            let recordedAt = Timestamp(milliseconds: try #require(Int64(fields[1])))
            let stream = StreamID(rawValue: try #require(Int64(fields[2])))
            let (clear, part) = (try #require(bytes(hex: fields[3])), try #require(bytes(hex: fields[4])))
            let expected = Event.fixReported(device: DeviceID(rawValue: 3), answering: nil, .open(fix))
            let back = try EventCoding.decoded(.fixReported, stream, at: recordedAt, clear: clear, parts: [part])
            #expect(back == expected)
            let encoded = EventCoding.encode(expected, in: stream, at: recordedAt)
            #expect(encoded.clear == clear)
            #expect(encoded.parts.map(\.plaintext) == [part], "\(fields[0])")
            // Without the time of recording it is refused.
            if !fields[0].hasSuffix("older") {
                #expect(throws: CBORError.self) {
                    try EventCoding.decoded(.fixReported, stream, clear: clear, parts: [part])
                }
            }
        }
    }

    @Test func `an age that no time can have, and hundredths that are no number, are refused`() throws {
        let recordedAt = Timestamp(milliseconds: 1_767_225_600_000)
        for digits in [
            // An age of −2⁶³, none of any number, hundredths of nothing and of two numbers.
            "a2003b7fffffffffffffff021a1f4e17a5", "a2000a021a1f4e17a5", "a40000021a1f4e17a5031a07fd44380480",
            "a40000021a1f4e17a5031a07fd443804820102",
        ] {
            let part = try #require(bytes(hex: Substring(digits)))
            #expect(throws: CBORError.self) {
                try EventCoding.decoded(
                    .fixReported, .track(PersonID(rawValue: 2)), at: recordedAt, clear: [0xA1, 1, 3], parts: [part])
            }
        }
    }

    @Test(arguments: EventKind.allCases)
    func `an event whose keys are gone is still an event`(kind: EventKind) throws {
        var events = AnyEvent(random: SplitMix(5))
        for sealed in [OpenedPart.erased, .keyLost] {
            let next = events.next(kind)
            let (event, stream) = try #require(next)
            let encoded = EventCoding.encode(event, in: stream)
            let back = try EventCoding.decoded(
                kind, stream, clear: encoded.clear, parts: encoded.parts.map(\.plaintext), sealed: { _ in sealed })
            if encoded.parts.isEmpty { #expect(back == event) } else { #expect(back != event) }
        }
    }

    @Test(arguments: EventKind.allCases)
    func `bytes that are not what a kind stores are refused, never guessed`(kind: EventKind) throws {
        var events = AnyEvent(random: SplitMix(11))
        for _ in 0..<200 {
            let next = events.next(kind)
            let (event, stream) = try #require(next)
            let encoded = EventCoding.encode(event, in: stream)
            let parts = encoded.parts.map(\.plaintext)
            var clear = encoded.clear
            let place = clear.indices.randomElement(using: &events.random) ?? 0
            clear[place] ^= 1 << UInt8.random(in: 0..<8, using: &events.random)
            guard let other = try? EventCoding.decoded(kind, stream, clear: clear, parts: parts) else { continue }
            // The bytes decode to another event, which encodes to exactly these bytes.
            #expect(EventCoding.encode(other, in: stream).clear == clear)
            #expect(throws: CBORError.self) {
                try EventCoding.decoded(kind, stream, clear: encoded.clear + [0], parts: parts)
            }
        }
    }

    @Test func `each personal part is sealed under the person it is about, the track apart from the rest`() throws {
        var events = AnyEvent(random: SplitMix(3))
        for kind in EventKind.allCases {
            for _ in 0..<50 {
                let next = events.next(kind)
                let (event, stream) = try #require(next)
                for (index, part) in EventCoding.encode(event, in: stream).parts.enumerated() {
                    // What retention keeps of reports is of their class, and goes as they do.
                    #expect((part.keyClass == .track) == (stream.isTrack || kind == .retentionApplied))
                    switch event {
                    case .locationQueried(let query) where index == 1 || query.subject == nil:
                        #expect(part.person.principal == query.requester)
                    case .locationRead(let read) where read.subject == nil:
                        #expect(part.person.principal == read.reader)
                    case .personAdded(let person, _): #expect(part.person == person)
                    case .deviceAdded(_, let person, _): #expect(part.person == person)
                    default: #expect(part.person == stream.person)
                    }
                }
            }
        }
    }
}
