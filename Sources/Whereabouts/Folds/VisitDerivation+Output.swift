// The derived visits as of a time: the final ones, and the one that the open cluster would be.

extension VisitDerivation {
    func outputWithoutSuspect(now: Int64) -> (stays: [Stay], crossings: [FoundCrossing]) {
        var stays = finished.stays
        let open = openStay(now: now) ?? stayAfterSilence()
        if let earlier = ended.stay, let open, earlier.isJoined(by: open, rules) {
            stays.append(earlier.joined(with: open))
        } else {
            if let earlier = ended.stay { stays.append(earlier) }
            if let open { stays.append(open) }
        }
        // The earlier of the two is not settled, so it does not affect the later one yet.
        for index in stays.indices.dropFirst(finished.stays.count) {
            stays[index].place = rules.places.place(of: stays[index], memory)
        }
        let told = stays.dropFirst(finished.stays.count).filter { $0.tellableFrom == nil }
        return (stays, provisionalCrossings(after: told[...], told.contains { $0.isOpen } ? open : nil))
    }

    private func provisionalCrossings(after stays: ArraySlice<Stay>, _ open: Stay?) -> [FoundCrossing] {
        if crossings.isIdle { return [] }
        var ahead = crossings
        let isJoined = ended.stay != nil && open != nil && stays.count == 1
        if let first = stays.first, ended.stay != nil { ahead.add(first, transform) }
        if !isJoined {
            for fix in ended.between { ahead.add(.fix(fix)) }
            if var open {
                open.place = rules.places.place(of: open, memory)
                ahead.add(open, transform)
            } else if let cluster {
                for fix in cluster.young { ahead.add(.fix(fix)) }
            }
        }
        return ahead.found
    }

    private func openStay(now: Int64) -> Stay? {
        guard let cluster else { return nil }
        let quiet = Int64(VisitRules.ongoingSilenceSeconds * 1000)
        let isSeen =
            cluster.observedSeconds >= VisitRules.ongoingSeconds
            || Double(cluster.carriedUntil - cluster.seed.time) / 1000 >= VisitRules.ongoingSeconds
        let silentFrom = cluster.exit.outsiders.isEmpty ? taken.newest + quiet : .max
        let isTold = isSeen || now >= silentFrom
        // A visit that silence alone will make is kept with its time, for answers after that time.
        guard isTold || (rules.telling.keepsUntold && silentFrom < .max) else { return nil }
        var stay = cluster.openCoreStay(after: approach.trail, followsStay: approach.followsStay, rules).stay
        if !isTold { stay.tellableFrom = silentFrom }
        return stay
    }

    /// The stay at the newest fixes if they are outside an open cluster that is not a stay, and nothing follows them:
    /// the cluster closes as with the next fix.
    private func stayAfterSilence() -> Stay? {
        guard rules.outsideRests.makesStays, let cluster, !cluster.exit.outsiders.isEmpty else { return nil }
        var ahead = self
        var left = cluster.exit.waiting.count
        while left > 0, let open = ahead.cluster, !open.exit.outsiders.isEmpty {
            ahead.feedAll(ahead.close())
            left -= 1
        }
        let stays = finished.stays.count + (ended.stay == nil ? 0 : 1)
        guard let last = ahead.cluster, last.exit.outsiders.isEmpty,
            ahead.finished.stays.count + (ahead.ended.stay == nil ? 0 : 1) == stays
        else { return nil }
        var stay = last.openCoreStay(after: ahead.approach.trail, followsStay: ahead.approach.followsStay, rules).stay
        if ended.stay?.isJoined(by: stay, rules) == true { return nil }
        stay.tellableFrom = taken.newest + Int64(VisitRules.weakSeconds * 1000)
        return stay
    }
}
