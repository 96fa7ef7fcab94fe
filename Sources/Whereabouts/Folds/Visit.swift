package import Geodesy

/// A stay at one place, as `CLVisit`, derived from fixes.
package struct Visit: Hashable, Sendable {
    /// Made of the person and the first fix inside: the same from first report to final form. Written as 16 hex digits.
    package let id: UInt64
    package let arrival: Timestamp
    /// `nil`: still there.
    package let departure: Timestamp?
    package let coordinate: Coordinate
    /// Meters around the coordinate, a 68 % radius.
    package let horizontalAccuracy: Double
    /// Fixes inside.
    package let fixes: Int64
    /// When the service was first able to tell the visit. Depends on when fixes arrived; no content.
    package var firstReported: Timestamp
    /// When it was first able to tell the departure; no content either.
    package var departureReported: Timestamp?
    /// The last moment at which a fix or a report of the device shows the person there; `nil` under rules that take any
    /// silence for evidence.
    package let lastSeen: Timestamp?
    /// The moment from which silence alone makes it a visit, as after a single fix; `nil` if its fixes do.
    package let tellableFrom: Timestamp?
    /// Whether ``told(at:)`` concluded it from elapsed time alone.
    package private(set) var isProvisional = false

    package init(
        id: UInt64, arrival: Timestamp, departure: Timestamp?, coordinate: Coordinate, horizontalAccuracy: Double,
        fixes: Int64, firstReported: Timestamp, departureReported: Timestamp?, lastSeen: Timestamp? = nil,
        tellableFrom: Timestamp? = nil
    ) {
        (self.id, self.arrival, self.departure, self.coordinate) = (id, arrival, departure, coordinate)
        (self.horizontalAccuracy, self.fixes) = (horizontalAccuracy, fixes)
        (self.firstReported, self.departureReported) = (firstReported, departureReported)
        (self.lastSeen, self.tellableFrom) = (lastSeen, tellableFrom)
    }

    /// The visit as an answer at a moment shows it; `nil` if it is not a visit then.
    ///
    /// One fix and ten minutes of silence are a visit under way. After 72 hours of silence, an open visit ended when the
    /// person was last seen there (``VisitRules/samePlaceSilenceSeconds``). Both are provisional: the next fix may change
    /// them.
    package func told(at now: Timestamp) -> Visit? {
        var told = self
        if let tellableFrom {
            guard tellableFrom <= now else { return nil }
            told.isProvisional = true
            told.firstReported = tellableFrom
        }
        guard departure == nil, let lastSeen else { return told }
        let end = lastSeen.adding(seconds: Int64(VisitRules.samePlaceSilenceSeconds))
        guard end < now else { return told }
        guard lastSeen > arrival else { return nil }
        told = Visit(
            id: id, arrival: arrival, departure: lastSeen, coordinate: coordinate,
            horizontalAccuracy: horizontalAccuracy, fixes: fixes, firstReported: told.firstReported,
            departureReported: end, lastSeen: lastSeen)
        told.isProvisional = true
        return told
    }

    /// Whether the two say the same, whenever each was reported.
    func saysTheSame(as other: Visit) -> Bool {
        id == other.id && arrival == other.arrival && departure == other.departure && coordinate == other.coordinate
            && horizontalAccuracy == other.horizontalAccuracy && fixes == other.fixes && lastSeen == other.lastSeen
            && tellableFrom == other.tellableFrom
    }

    init(
        _ stay: Stay, of person: PersonID, reported: Timestamp, _ rules: VisitRules, _ transform: GeocentricTransform
    ) {
        self.init(
            id: stay.id(of: person),
            arrival: Timestamp(milliseconds: stay.arrival),
            departure: stay.isOpen ? nil : Timestamp(milliseconds: stay.departure),
            coordinate: transform.coordinate(stay.mean.center).coordinate,
            horizontalAccuracy: rules.judgesPath ? stay.mean.placeRadius : stay.mean.radius,
            fixes: stay.mean.count, firstReported: reported, departureReported: stay.isOpen ? nil : reported,
            lastSeen: rules.limitsSilence ? Timestamp(milliseconds: stay.lastSeen) : nil,
            tellableFrom: stay.tellableFrom.map(Timestamp.init(milliseconds:)))
    }

    /// 64 bits of the person and the first fix inside, mixed by the finalizer of SplitMix64 (Steele et al. 2014,
    /// DOI 10.1145/2660193.2660195): equal ids of two visits of one person are as rare as chance makes them.
    package static func id(of person: PersonID, at coordinate: Coordinate, _ time: Timestamp) -> UInt64 {
        // Adding 0 makes −0 the 0 it equals.
        mix([
            UInt64(bitPattern: person.rawValue), UInt64(bitPattern: time.milliseconds),
            (coordinate.latitude + 0).bitPattern, (coordinate.longitude + 0).bitPattern,
        ])
    }

    /// The part of a visit that the person says began then.
    package static func id(ofPartFrom moment: Timestamp, of id: UInt64) -> UInt64 {
        mix([id, UInt64(bitPattern: moment.milliseconds)])
    }

    private static func mix(_ words: [UInt64]) -> UInt64 {
        var hash: UInt64 = 0
        for word in words {
            hash = (hash ^ word) &+ 0x9E37_79B9_7F4A_7C15
            hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
            hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
            hash ^= hash >> 31
        }
        return hash
    }
}

/// Somebody entered or left a region, derived from visits and fixes.
package struct Crossing: Hashable, Sendable {
    package enum Kind: Int64, Sendable {
        case enter = 1
        case exit = 2
        package var word: String { self == .enter ? "enter" : "exit" }
    }
    package let region: RegionID
    package let kind: Kind
    /// When the straight way between the places before and after met the boundary.
    package let time: Timestamp
    /// The moment on the track at which the evidence was enough. Says how far the derivation had come; content of the
    /// track, yet shown to nobody.
    package let confirmed: Timestamp
    /// When the service was first able to tell; depends on when fixes arrived, no content.
    package var reported: Timestamp

    package init(region: RegionID, kind: Kind, time: Timestamp, confirmed: Timestamp, reported: Timestamp) {
        (self.region, self.kind, self.time) = (region, kind, time)
        (self.confirmed, self.reported) = (confirmed, reported)
    }

    /// Whether the two say the same, whenever each was reported.
    func saysTheSame(as other: Crossing) -> Bool {
        time == other.time && region == other.region && kind == other.kind && confirmed == other.confirmed
    }

    static func precedes(_ a: Crossing, _ b: Crossing) -> Bool {
        (a.time.milliseconds, a.region.rawValue, a.kind.rawValue)
            < (b.time.milliseconds, b.region.rawValue, b.kind.rawValue)
    }
}

/// A region as the crossings need it: also after its removal, for the track before that.
package struct WatchedRegion: Hashable, Sendable {
    package let id: RegionID
    package let region: Region
    /// Crossings up to this moment remain, none come after.
    package var removedAt: Timestamp?

    package init(id: RegionID, region: Region, removedAt: Timestamp?) {
        (self.id, self.region, self.removedAt) = (id, region, removedAt)
    }
}
