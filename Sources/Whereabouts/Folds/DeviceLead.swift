import Geodesy

/// Decides which of a person's devices represents the person. One device leads at a time; reports of the others are not
/// used for visits and crossings. For example, a tablet left at home reports only where the tablet is.
///
/// The first device to report leads. Another takes the lead if it is carried and the leader is not, or if the leader
/// has been silent for ``VisitRules/leadSilenceSeconds``. A device is carried if it was seen at three places, each
/// further than ``VisitRules/apartMeters`` beyond the accuracies from the others, while the leader did not move since
/// the device left the first of them. Three places, because one fix elsewhere is a spike, and a second one at the same
/// place a false spot.
///
/// The result is a function of the fixes in order of time and device. The places of devices are forgotten at each
/// multiple of ``VisitRules/restartSpanSeconds``, so that the state after a late fix soon equals the earlier one. Cost:
/// O(devices) for each fix, less for a person with one device.
struct DeviceLead: Hashable {
    private struct Track: Hashable {
        let device: DeviceID
        /// When the device last reported a usable fix. As all times here, in milliseconds since 1970 UTC.
        var newest: Int64
        /// The last places at which the device was seen, at most two, the older first.
        var places: [TrackPoint] = []
        /// When it was last seen at the first of ``places``, and at the last.
        var leftAt = Int64.min
        var seenAt = Int64.min
        /// When it was last seen at a third place.
        var carriedAt = Int64.min

        init(_ device: DeviceID, newest: Int64) { (self.device, self.newest) = (device, newest) }

        /// Takes the next fix. If the device came to a third place, returns the time since which it was no longer at
        /// the first.
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
                // It is back, or was never elsewhere.
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
    /// The leader and the other devices that were not silent for long, at most ``VisitRules/mostDevices`` in all, by
    /// device.
    private var tracks: [Track] = []
    /// The multiple of ``VisitRules/restartSpanSeconds`` in which ``Track/places`` were seen.
    private var span = Int64.min
    /// When the lead was last taken.
    private(set) var takenAt = Int64.min
    /// Whether a ``Lead`` with the present leader was given out.
    private var isTold = false
    /// The leads since the last ``takeOutput()``.
    private(set) var found: [Lead] = []

    /// The points that it has on the heap.
    var pointsHeld: Int { tracks.reduce(0) { $0 + $1.places.count } }

    init() {}

    mutating func takeOutput() { found = [] }

    /// Takes the next fix, in order of time and device; returns whether its device leads.
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
        // A person is at one place at a time: the previous leader may have reported it.
        return silence > 0
    }

    /// The index of the device in ``tracks``; `nil` if there are too many.
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

/// From this time on, a device represents its person. Before the first lead, the person had one device.
package struct Lead: Hashable, Sendable {
    /// The time from which the device leads, by the fixes' timestamps.
    package let from: Timestamp
    /// The device that leads.
    package let device: DeviceID

    package init(from: Timestamp, device: DeviceID) { (self.from, self.device) = (from, device) }

    /// The order in which leads are taken; of two at the same time, the lower device first.
    static func precedes(_ a: Lead, _ b: Lead) -> Bool { (a.from, a.device) < (b.from, b.device) }
}

/// The leads of a person in some range of time.
package struct Leads: Sendable {
    private let leads: [Lead]

    /// Takes leads in their order, beginning with the one from before the range.
    package init(_ leads: [Lead]) { self.leads = leads }

    /// Whether a report of the device at this time shows where its person was.
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
