import Geodesy

/// Which of a person's devices is taken for the person: one leads at a time, and what the others report meanwhile says
/// nothing about visits and crossings. A tablet left at home tells where the tablet is.
///
/// The first device to report leads. Another takes the lead when it is carried and the leader is not: it was seen at three
/// places, each further than ``VisitRules/apartMeters`` beyond the accuracies from the others, while the leader was not,
/// since the other left the first of them; or when the leader has said nothing for ``VisitRules/leadSilenceSeconds``. Three
/// places, because one fix elsewhere is a spike, and a second one of the same place a false spot.
///
/// A function of the fixes in the order of time and device. What a device was seen at is forgotten at each multiple of
/// ``VisitRules/restartSpanSeconds``, so that the state after a late fix soon is the one it was. O(devices) a fix, less of
/// a person with one.
struct DeviceLead: Hashable {
    private struct Track: Hashable {
        let device: DeviceID
        /// Milliseconds since 1970 UTC, as all times here: when the device last reported a fix that counts.
        var newest: Int64
        /// The last places the device was seen at, at most two, the older first.
        var places: [TrackPoint] = []
        /// When it was last seen at the first of ``places``, and at the last.
        var leftAt = Int64.min
        var seenAt = Int64.min
        /// When it was last seen at a third place.
        var carriedAt = Int64.min

        init(_ device: DeviceID, newest: Int64) { (self.device, self.newest) = (device, newest) }

        /// Takes the next fix; when the device came to a third place, since when it was not at the first any more.
        mutating func carriedSince(_ fix: TrackPoint) -> Int64? {
            defer { seenAt = fix.time }
            guard let present = places.last, fix.isApart(from: present) else {
                if places.isEmpty { places = [fix] }
                return nil
            }
            guard places.count == 2 else {
                leftAt = seenAt
                places.append(fix)
                return nil
            }
            guard fix.isApart(from: places[0]) else {
                // It is back, or never was elsewhere.
                places.removeLast()
                return nil
            }
            defer { leftAt = seenAt }
            places = [present, fix]
            carriedAt = fix.time
            return leftAt
        }
    }

    private(set) var leader: DeviceID?
    /// Of the leader and of at most ``VisitRules/mostDevices`` in all that were not silent for long, by device.
    private var tracks: [Track] = []
    /// The multiple of ``VisitRules/restartSpanSeconds`` in which ``Track/places`` were seen.
    private var span = Int64.min
    /// When the lead was last taken.
    private(set) var takenAt = Int64.min
    /// Whether a ``Lead`` says who leads.
    private var isTold = false
    /// The leads since the last ``takeOutput()``.
    private(set) var found: [Lead] = []

    init() {}

    mutating func takeOutput() { found = [] }

    /// Takes the next fix, in the order of time and device; whether its device leads.
    mutating func follows(_ fix: TrackPoint, of device: DeviceID) -> Bool {
        if device == leader, tracks.count == 1 {
            tracks[0].newest = fix.time
            return true
        }
        guard let leader else {
            leader = device
            tracks = [Track(device, newest: fix.time)]
            return true
        }
        enterSpan(of: fix)
        if !isTold { tell(leader, from: fix.time) }
        guard let index = index(of: device, newest: fix.time) else { return false }
        let carriedSince = tracks[index].carriedSince(fix)
        tracks[index].newest = fix.time
        guard device != leader, let leading = tracks.first(where: { $0.device == leader }) else { return true }
        let silence = fix.time - leading.newest
        guard
            carriedSince.map({ leading.carriedAt < $0 }) ?? false
                || silence > Int64(VisitRules.leadSilenceSeconds * 1000)
        else { return false }
        self.leader = device
        takenAt = fix.time
        tell(device, from: fix.time)
        // Nobody is at two places at one moment: the leader of before may have spoken for it.
        return silence > 0
    }

    /// Where the device is among ``tracks``; `nil` when there are too many.
    private mutating func index(of device: DeviceID, newest: Int64) -> Int? {
        let index = tracks.firstIndex { $0.device >= device } ?? tracks.count
        if index < tracks.count, tracks[index].device == device { return index }
        guard tracks.count < VisitRules.mostDevices else { return nil }
        tracks.insert(Track(device, newest: newest), at: index)
        return index
    }

    private mutating func tell(_ device: DeviceID, from time: Int64) {
        found.append(Lead(from: Timestamp(milliseconds: time), device: device))
        isTold = true
    }

    private mutating func enterSpan(of fix: TrackPoint) {
        let new = floorDivided(fix.time, by: VisitRules.restartSpanSeconds * 1000)
        guard new != span else { return }
        span = new
        let silent = fix.time - Int64(VisitRules.leadSilenceSeconds * 1000)
        tracks.removeAll { $0.device != leader && $0.newest < silent }
        for index in tracks.indices { tracks[index].places = [] }
    }
}

extension TrackPoint {
    fileprivate func isApart(from other: TrackPoint) -> Bool {
        distance(to: other) > VisitRules.apartMeters + accuracy + other.accuracy
    }
}

/// From a moment on a device is taken for its person. Before the first of them there was one device alone.
package struct Lead: Hashable, Sendable {
    package let from: Timestamp
    package let device: DeviceID

    package init(from: Timestamp, device: DeviceID) { (self.from, self.device) = (from, device) }

    /// The order in which leads are taken: of two at one moment the second device's is the later.
    static func precedes(_ a: Lead, _ b: Lead) -> Bool { (a.from, a.device) < (b.from, b.device) }
}

/// Who led when.
package struct Leads: Sendable {
    private let leads: [Lead]

    /// Takes leads in the order they were taken, the one from before the time in question first.
    package init(_ leads: [Lead]) { self.leads = leads }

    /// Whether what a device reported at a moment tells where its person was.
    package func leads(_ device: DeviceID, at moment: Timestamp) -> Bool {
        let next = leads.firstIndex { $0.from > moment } ?? leads.count
        return next == 0 || leads[next - 1].device == device
    }
}

// MARK: - The state at a boundary

extension DeviceLead {
    /// A CBOR array: `[leader, span, taken, told, [device, newest, left, seen, carried, [place …]] …]`.
    func write(to writer: inout CBORWriter) {
        writer.array(4 + tracks.count)
        writer.integer(leader?.rawValue ?? 0)
        writer.integer(span)
        writer.integer(takenAt)
        writer.bool(isTold)
        for track in tracks {
            writer.array(6)
            for value in [track.device.rawValue, track.newest, track.leftAt, track.seenAt, track.carriedAt] {
                writer.integer(value)
            }
            track.places.write(to: &writer)
        }
    }

    init(from reader: inout CBORReader, _ transform: GeocentricTransform) throws(CBORError) {
        let count = try reader.array()
        guard count > 4 else { throw .unexpected }
        leader = DeviceID(rawValue: try reader.integer())
        span = try reader.integer()
        takenAt = try reader.integer()
        isTold = try reader.bool()
        for _ in 4..<count {
            guard try reader.array() == 6 else { throw .unexpected }
            var track = Track(DeviceID(rawValue: try reader.integer()), newest: try reader.integer())
            track.leftAt = try reader.integer()
            track.seenAt = try reader.integer()
            track.carriedAt = try reader.integer()
            track.places = try Array(from: &reader, transform)
            tracks.append(track)
        }
    }
}
