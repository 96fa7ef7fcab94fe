internal import Foundation
internal import Whereabouts

/// One loop over live updates in the running process.
struct LiveFollower {
    fileprivate let continuation: AsyncStream<CLLocationUpdate>.Continuation
    fileprivate var told: ServiceDiagnostics = []
    fileprivate var lastPassed: Timestamp?
    /// Where the device has been since, within the radius of a stay.
    fileprivate var still: (anchor: CLLocation, since: Timestamp)?
    fileprivate var isStationary = false
}

/// Those of an app.
struct LiveFollowers {
    fileprivate var all: [Int: LiveFollower] = [:]
    fileprivate var next = 1
}

extension SimulatedApplication {
    /// - Parameter configuration: changes nothing yet that a simulated receiver could show.
    func followLocation(
        _ configuration: CLLocationUpdate.LiveConfiguration,
        with continuation: AsyncStream<CLLocationUpdate>.Continuation
    ) {
        guard !state.isDead else { return continuation.finish() }
        let number = live.next
        live.next += 1
        live.all[number] = LiveFollower(continuation: continuation)
        continuation.onTermination = { [weak self] _ in
            self?.locked {
                self?.live.all[number] = nil
                self?.endImplicitSession(of: .updates(number))
            }
        }
        beginImplicitSession(of: .updates(number))
        servicesChanged()
    }

    /// Whether a loop keeps the receiver on; a stay is waited out without it.
    var followsLocation: Bool {
        state.isRunning && (isInUse || hasSessionForBackground) && liveObstacles.isEmpty
            && live.all.values.contains { !$0.isStationary }
    }

    /// The obstacles to a location; reduced accuracy is not one.
    private var liveObstacles: ServiceDiagnostics { diagnostics.subtracting(.accuracyLimited) }

    func takeLive(_ fix: CLLocation, at moment: Timestamp) {
        guard state.isRunning, isInUse || hasSessionForBackground, liveObstacles.isEmpty else { return }
        for number in live.all.keys.sorted() {
            guard var follower = live.all[number] else { continue }
            let update = follower.take(fix, at: moment, diagnostics: diagnostics, profile: profile)
            live.all[number] = follower
            if let update { yield(update, to: follower) }
        }
    }

    func updatesChanged() {
        let now = diagnostics
        for number in live.all.keys.sorted() {
            guard let follower = live.all[number], follower.told != now else { continue }
            live.all[number]?.told = now
            if !liveObstacles.isEmpty { yield(CLLocationUpdate(diagnostics: now), to: follower) }
        }
    }

    /// The receiver has lost the place.
    func liveReceiverLost() {
        guard state.isRunning, liveObstacles.isEmpty else { return }
        for number in live.all.keys.sorted() {
            guard let follower = live.all[number] else { continue }
            yield(CLLocationUpdate(diagnostics: diagnostics.union(.locationUnavailable)), to: follower)
        }
    }

    private func yield(_ update: CLLocationUpdate, to follower: LiveFollower) {
        let place = update.location?.logText ?? "-"
        let stays = update.stationary ? " stationary" : ""
        let flags = update.diagnostics.isEmpty ? "" : " flags \(update.diagnostics.rawValue)"
        device.write("\(bundle.identifier)/\(launch)", "liveUpdate \(place)\(stays)\(flags)")
        follower.continuation.yield(update)
    }

    func endLive() {
        let ended = live.all.sorted { $0.key < $1.key }
        live.all = [:]
        for (_, follower) in ended { follower.continuation.finish() }
    }
}

extension LiveFollower {
    fileprivate mutating func take(
        _ fix: CLLocation, at moment: Timestamp, diagnostics: ServiceDiagnostics, profile: SimulationProfile
    ) -> CLLocationUpdate? {
        if let lastPassed, moment.seconds(since: lastPassed) < profile.bestIntervalSeconds { return nil }
        lastPassed = moment
        let stays =
            still.flatMap { $0.anchor.coordinate.distanceMeters(to: fix.coordinate) }
            .map { $0 <= profile.liveStationaryMeters } ?? false
        guard stays, let still else {
            (self.still, isStationary) = ((fix, moment), false)
            return CLLocationUpdate(location: fix, diagnostics: diagnostics)
        }
        if isStationary { return nil }
        isStationary = moment.seconds(since: still.since) >= profile.liveStationarySeconds
        return CLLocationUpdate(location: fix, stationary: isStationary, diagnostics: diagnostics)
    }
}
