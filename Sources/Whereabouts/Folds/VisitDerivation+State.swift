import Geodesy

extension VisitDerivation {
    /// The state as a CBOR array, after a cluster has closed and before the next one has a fix, or within a long cluster.
    ///
    /// `[trail, last fed, follows stay, pending or null, crossings]`. Rules with cores append the way out of the pending stay
    /// (there are no other fixes in between at such moments); rules with a leading device append the device of the newest
    /// fix, the lead, and the open cluster or null; rules that limit silence append ``beganAnew``.
    func encoded() -> [UInt8] {
        var writer = CBORWriter()
        writer.array(rules.stateMembers)
        trail.write(to: &writer)
        if let lastFed { lastFed.write(to: &writer) } else { writer.null() }
        writer.bool(followsStay)
        if let stay = pending { stay.write(to: &writer) } else { writer.null() }
        crossings.write(to: &writer)
        if rules.findsCore {
            between.write(to: &writer)
        }
        if rules.oneDeviceLeads {
            writer.integer(newestDevice.rawValue)
            lead.write(to: &writer)
            if let cluster { cluster.write(to: &writer) } else { writer.null() }
        }
        if rules.limitsSilence { writer.integer(beganAnew) }
        return writer.bytes
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
                trail = try Array(from: &reader, transform)
                lastFed = try reader.readNull() ? nil : try TrackPoint(from: &reader, transform)
                followsStay = try reader.bool()
                pending = try reader.readNull() ? nil : try Stay(from: &reader, transform)
                try crossings.read(from: &reader)
                if rules.findsCore { between = try Array(from: &reader, transform) }
                if rules.oneDeviceLeads {
                    leadThrough = Lead(from: restart.closed, device: DeviceID(rawValue: try reader.integer()))
                    lead = try DeviceLead(from: &reader, transform)
                    cluster = try reader.readNull() ? nil : try StayCluster(from: &reader, rules, transform)
                }
                if rules.limitsSilence { beganAnew = try reader.integer() }
                try reader.end()
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try read.get()
        previous = lastFed
        (newest, newestDevice) = (restart.seed.milliseconds - 1, DeviceID(rawValue: .max))
    }
}

extension VisitRules {
    fileprivate var stateMembers: Int {
        5 + (findsCore ? 1 : 0) + (oneDeviceLeads ? 3 : 0) + (limitsSilence ? 1 : 0)
    }
}
