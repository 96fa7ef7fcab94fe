import Geodesy

extension VisitDerivation {
    /// The state as a CBOR array, after a cluster has closed and before the next one has a fix, or within a long cluster.
    ///
    /// `[trail, last fed, follows stay, pending or null, crossings, way out of the pending stay, device of the newest fix, lead,
    /// open cluster or null]`; there are no other fixes between stays at such moments. The stage of
    /// places may append further members (``PlaceStage/stateMembers``).
    func encoded() -> [UInt8] {
        var writer = CBORWriter()
        writer.array(rules.stateMembers)
        approach.trail.write(to: &writer)
        if let fed = approach.lastFed { fed.write(to: &writer) } else { writer.null() }
        writer.bool(approach.followsStay)
        if let stay = ended.stay { stay.write(to: &writer) } else { writer.null() }
        crossings.write(to: &writer)
        ended.between.write(to: &writer)
        writer.integer(taken.device.rawValue)
        lead.write(to: &writer)
        if let cluster { cluster.write(to: &writer) } else { writer.null() }
        rules.places.write(beganAnew: approach.beganAnew, memory, to: &writer)
        return writer.finish()
    }

    /// Continues from a boundary; the next fix to add is the one at ``Restart/seed``.
    init(
        restart: Restart, regions: [WatchedRegion], _ rules: VisitRules, _ transform: GeocentricTransform
    ) throws(CBORError) {
        self.init(regions: regions, rules, transform)
        // `Array.withUnsafeBytes` rethrows without a type, so the closure returns a `Result`.
        let state = restart.state
        let read: Result<Void, CBORError> = state.withUnsafeBytes { bytes in
            do throws(CBORError) {
                var reader = CBORReader(bytes)
                guard try reader.array() == rules.stateMembers else { throw .unexpected }
                approach.trail = try Array(from: &reader, transform)
                approach.lastFed = try reader.readNull() ? nil : try TrackPoint(from: &reader, transform)
                approach.followsStay = try reader.bool()
                ended.stay = try reader.readNull() ? nil : try Stay(from: &reader, transform)
                try crossings.read(from: &reader)
                ended.between = try Array(from: &reader, transform)
                taken.leadThrough = Lead(from: restart.closed, device: DeviceID(rawValue: try reader.integer()))
                lead = try DeviceLead(from: &reader, transform)
                cluster = try reader.readNull() ? nil : try StayCluster(from: &reader, rules, transform)
                try rules.places.read(beganAnew: &approach.beganAnew, &memory, from: &reader)
                try reader.end()
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try read.get()
        spikes.previous = approach.lastFed
        (taken.newest, taken.device) = (restart.seed.milliseconds - 1, DeviceID(rawValue: .max))
    }
}

extension VisitRules {
    fileprivate var stateMembers: Int { 9 + places.stateMembers }
}
