import Geodesy

/// The places at which a person stayed while the phone reported little. Earlier stays at the same place help to locate
/// a stay with a single vague fix.
///
/// Stays with many fixes are located well by themselves and are not remembered (`Stay.isSparse`), so that a late fix
/// among many changes nothing here. The other values are rounded to coarse steps, so that a late fix in a stay, which
/// moves its mean by less, usually leaves the memory as it was too. Only stays that no later fix in order can change
/// are added, and none of them changes an earlier answer. At most ``VisitRules/mostKnownPlaces`` places; O(places) for
/// each stay.
struct PlaceMemory: Hashable {
    /// A place, rounded to coarse steps.
    private struct Known: Hashable {
        /// From the center of the earth, in multiples of ``VisitRules/placeStep``.
        let x, y, z: Int64
        /// The error: ``VisitRules/vaguestPlace``, halved for every four of these.
        let halvedQuarters: Int
        /// When the person was last there, in multiples of ``VisitRules/restartSpanSeconds``.
        var lastSpan: Int64

        init(_ place: KnownPlace, lastSpan: Int64) {
            func step(_ value: Double) -> Int64 { Int64((value / VisitRules.placeStep).rounded()) }
            (x, y, z) = (step(place.center.x), step(place.center.y), step(place.center.z))
            halvedQuarters =
                Self.errors.indices.min {
                    abs(Self.errors[$0] - place.error) < abs(Self.errors[$1] - place.error)
                } ?? 0
            self.lastSpan = lastSpan
        }

        init?(x: Int64, y: Int64, z: Int64, halvedQuarters: Int64, lastSpan: Int64) {
            let far = Int64(1e7 / VisitRules.placeStep)
            guard [x, y, z].allSatisfy({ abs($0) < far }), let quarters = Int(exactly: halvedQuarters),
                Self.errors.indices.contains(quarters)
            else { return nil }
            (self.x, self.y, self.z, self.halvedQuarters, self.lastSpan) = (x, y, z, quarters, lastSpan)
        }

        var place: KnownPlace {
            let step = VisitRules.placeStep
            return KnownPlace(
                center: GeocentricPoint(x: Double(x) * step, y: Double(y) * step, z: Double(z) * step),
                error: Self.errors[halvedQuarters])
        }

        static func precedes(_ a: Known, _ b: Known) -> Bool {
            (a.lastSpan, a.x, a.y, a.z, a.halvedQuarters) < (b.lastSpan, b.x, b.y, b.z, b.halvedQuarters)
        }

        private static let errors: [Double] = {
            let quarter = 0.5.squareRoot().squareRoot()
            var errors = [VisitRules.vaguestPlace]
            while let last = errors.last, last > VisitRules.bestPlace { errors.append(last * quarter) }
            return errors
        }()
    }

    /// The place visited longest ago first.
    private var known: [Known] = []

    init() {}

    /// The place of a stay by everything known of it; `nil` if only this stay is known.
    func place(of stay: Stay) -> KnownPlace? {
        guard stay.isSparse, let index = index(of: stay) else { return nil }
        return known[index].place.joined(with: stay)
    }

    /// Adds a stay that no later fix in order can change.
    mutating func add(_ stay: Stay) {
        guard stay.isSparse, stay.seconds >= VisitRules.memorableSeconds else { return }
        let span = Self.span(of: stay)
        known.removeAll { $0.lastSpan < span - VisitRules.placeMemorySpans }
        if let index = index(of: stay) {
            var known = known.remove(at: index)
            let place = known.place
            if place.error > VisitRules.bestPlace { known = Known(place.joined(with: stay), lastSpan: span) }
            known.lastSpan = span
            self.known.append(known)
        } else {
            known.append(
                Known(KnownPlace(center: stay.mean.center, error: 1 / stay.say.squareRoot()), lastSpan: span))
        }
        known.sort(by: Known.precedes)
        if known.count > VisitRules.mostKnownPlaces { known.removeFirst() }
    }

    private static func span(of stay: Stay) -> Int64 { stay.departure / (VisitRules.restartSpanSeconds * 1000) }

    /// The nearest place within reach, given the errors of both.
    private func index(of stay: Stay) -> Int? {
        var nearest: (index: Int, share: Double)?
        let oldest = Self.span(of: stay) - VisitRules.placeMemorySpans
        for (index, known) in known.enumerated() where known.lastSpan >= oldest {
            let place = known.place
            let doubt = (stay.error * stay.error + place.error * place.error).squareRoot()
            let share = place.center.chordMeters(to: stay.mean.center) / (VisitRules.samePlaceErrors * doubt)
            if share <= 1, share < nearest?.share ?? .infinity { nearest = (index, share) }
        }
        return nearest?.index
    }

    /// A CBOR array of `[x, y, z, error, last span]`.
    func write(to writer: inout CBORWriter) {
        writer.array(known.count)
        for place in known {
            writer.array(5)
            for value in [place.x, place.y, place.z, Int64(place.halvedQuarters), place.lastSpan] {
                writer.integer(value)
            }
        }
    }

    init(from reader: inout CBORReader) throws(CBORError) {
        for _ in 0..<(try reader.array()) {
            guard try reader.array() == 5,
                let place = Known(
                    x: try reader.integer(), y: try reader.integer(), z: try reader.integer(),
                    halvedQuarters: try reader.integer(), lastSpan: try reader.integer())
            else { throw .unexpected }
            known.append(place)
        }
    }
}

/// A place by all stays there.
struct KnownPlace: Hashable {
    let center: GeocentricPoint
    /// Meters.
    let error: Double

    fileprivate func joined(with stay: Stay) -> KnownPlace {
        let (before, now) = (1 / (error * error), stay.say)
        let sum = before + now
        let (a, b) = (center, stay.mean.center)
        func mean(_ a: Double, _ b: Double) -> Double { (before * a + now * b) / sum }
        return KnownPlace(
            center: GeocentricPoint(x: mean(a.x, b.x), y: mean(a.y, b.y), z: mean(a.z, b.z)),
            error: max(VisitRules.bestPlace, 1 / sum.squareRoot()))
    }
}

extension Stay {
    fileprivate var seconds: Double { Double(departure - arrival) / 1000 }

    /// Whether the stay has few fixes for its length.
    fileprivate var isSparse: Bool {
        mean.count < VisitRules.firmCount || seconds >= VisitRules.sparseSeconds * Double(mean.count)
    }

    /// Meters.
    fileprivate var error: Double { max(VisitRules.bestPlace, mean.placeRadius / VisitRules.meanErrors) }

    /// The weight of the stay in the place's mean: the longer, the more.
    fileprivate var say: Double {
        min(1, max(VisitRules.minimumSaySeconds, seconds) / VisitRules.fullSaySeconds) / (error * error)
    }
}
