package import Geodesy

/// A stay at one place, as in `CLVisit`, derived from fixes.
package struct Visit: Hashable, Sendable {
    /// Made from the person and the first fix inside, so the same from the first report to the final form. Written as
    /// 16 hexadecimal digits.
    package let id: UInt64
    /// When the person arrived.
    package let arrival: Timestamp
    /// `nil` while the person is there.
    package let departure: Timestamp?
    /// The accuracy-weighted mean of the fixes inside, or of earlier stays there.
    package let coordinate: Coordinate
    /// Meters around the coordinate, a 68 % radius.
    package let horizontalAccuracy: Double
    /// The number of fixes inside.
    package let fixes: Int64
    /// When the service could first show the visit. It depends on when fixes arrived, so it is not content.
    package var firstReported: Timestamp
    /// When the service could first show the departure; not content either.
    package var departureReported: Timestamp?
    /// The last moment at which a fix or a report of the device shows the person there; `nil` under rules that do not
    /// limit silence.
    package let lastSeen: Timestamp?
    /// The time from which silence alone makes it a visit, for example after a single fix; `nil` if its fixes do.
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

    /// The longest silence within a visit, in seconds: 72 hours (``SilenceStage/limited``).
    static let longestSilenceSeconds = 72 * 3600.0

    /// The visit as an answer at a time shows it; `nil` if it is not a visit then.
    ///
    /// One fix and ten minutes of silence are a visit under way. After 72 hours of silence, an open visit ended when the
    /// person was last seen there (``longestSilenceSeconds``). Both are provisional: the next fix may change them.
    package func told(at now: Timestamp) -> Visit? {
        var told = self
        if let tellableFrom {
            guard tellableFrom <= now else { return nil }
            told.isProvisional = true
            told.firstReported = tellableFrom
        }
        guard departure == nil, let lastSeen else { return told }
        let end = lastSeen.adding(seconds: Int64(Self.longestSilenceSeconds))
        guard end < now else { return told }
        guard lastSeen > arrival else { return nil }
        told = Visit(
            id: id, arrival: arrival, departure: lastSeen, coordinate: coordinate,
            horizontalAccuracy: horizontalAccuracy, fixes: fixes, firstReported: told.firstReported,
            departureReported: end, lastSeen: lastSeen)
        told.isProvisional = true
        return told
    }

    /// Whether two have the same content, whenever each was reported.
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
            coordinate: transform.coordinate(stay.place?.center ?? stay.mean.center).coordinate,
            horizontalAccuracy: stay.place.map { min(stay.mean.placeRadius, $0.error * VisitRules.meanErrors) }
                ?? stay.mean.placeRadius,
            fixes: stay.mean.count, firstReported: reported, departureReported: stay.isOpen ? nil : reported,
            lastSeen: rules.telling.lastSeen(of: stay),
            tellableFrom: stay.tellableFrom.map(Timestamp.init(milliseconds:)))
    }

    /// 64 bits of the person and the first fix inside, mixed by the finalizer of SplitMix64 (Steele et al. 2014, DOI
    /// 10.1145/2660193.2660195). Equal ids of two visits of one person are as rare as for random numbers.
    package static func id(of person: PersonID, at coordinate: Coordinate, _ time: Timestamp) -> UInt64 {
        // Adding 0 turns −0 into the equal 0.
        mix([
            UInt64(bitPattern: person.rawValue), UInt64(bitPattern: time.milliseconds),
            (coordinate.latitude + 0).bitPattern, (coordinate.longitude + 0).bitPattern,
        ])
    }

    /// The id of the part of a visit that begins where the person cut it.
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

/// An entry into a region or an exit from it, derived from visits and fixes.
package struct Crossing: Hashable, Sendable {
    /// The direction.
    package enum Kind: Int64, Sendable {
        case enter = 1
        case exit = 2
        /// The word in answers.
        package var word: String { self == .enter ? "enter" : "exit" }
    }
    /// The region whose boundary was crossed.
    package let region: RegionID
    /// The direction.
    package let kind: Kind
    /// When the straight way between the places before and after met the boundary.
    package let time: Timestamp
    /// The time on the track at which the evidence sufficed. It shows how far the derivation had come; it is content,
    /// but no answer shows it.
    package let confirmed: Timestamp
    /// When the service could first show the crossing; it depends on when fixes arrived, so it is not content.
    package var reported: Timestamp

    package init(region: RegionID, kind: Kind, time: Timestamp, confirmed: Timestamp, reported: Timestamp) {
        (self.region, self.kind, self.time) = (region, kind, time)
        (self.confirmed, self.reported) = (confirmed, reported)
    }

    /// Whether two have the same content, whenever each was reported.
    package func saysTheSame(as other: Crossing) -> Bool {
        time == other.time && region == other.region && kind == other.kind && confirmed == other.confirmed
    }

    static func precedes(_ a: Crossing, _ b: Crossing) -> Bool {
        (a.time.milliseconds, a.region.rawValue, a.kind.rawValue)
            < (b.time.milliseconds, b.region.rawValue, b.kind.rawValue)
    }
}

/// A region for the derivation of crossings, also after its removal, for the track before that.
package struct WatchedRegion: Hashable, Sendable {
    /// The number of the region.
    package let id: RegionID
    /// Its shape and settings.
    package let region: Region
    /// When the region was removed. Crossings up to this time remain, and none come after it.
    package var removedAt: Timestamp?

    package init(id: RegionID, region: Region, removedAt: Timestamp?) {
        (self.id, self.region, self.removedAt) = (id, region, removedAt)
    }
}

extension Region {
    /// Whether the region reports crossings of this kind.
    package func tells(_ kind: Crossing.Kind) -> Bool { kind == .enter ? notifyOnEntry : notifyOnExit }
}
