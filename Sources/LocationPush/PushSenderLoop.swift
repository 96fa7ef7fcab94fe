internal import Glibc

/// The sender's thread: passes inputs to ``PushQueue`` and ``PushLink`` and performs their actions.
final class PushSenderLoop {
    /// The longest sleep, in milliseconds: nothing depends on it; it bounds the harm of a stopped clock.
    private static let sleepMsMax: Int64 = 60_000
    /// The interval in milliseconds at which a queue held for its provider token checks whether the clock was set.
    private static let clockLookMs: Int64 = 1_000
    /// The number of pushes written together: about two TLS records.
    private static let flushedTogether = 64

    private let configuration: PushSender.Configuration
    private let inbox: PushInbox
    private let context: TLSContext
    private let lookup: NameLookup
    private var queue: PushQueue
    private var submissions: [PushQueue.Number: PushSubmission] = [:]
    private var lastNumber: PushQueue.Number = 0
    /// Open connections and the one being made, oldest first.
    private var links: [PushLink] = []
    /// Since when pushes wait although every connection is full.
    private var fullSinceMs: Int64?
    private var lastLinkNumber = 0
    /// Addresses of the present look-up not tried yet.
    private var addresses: [SocketAddress] = []
    /// The look-up wakes the loop when it is done.
    private var isLookingUp = false
    /// Connections in a row that could not be made or answered nothing.
    private var failures = 0
    private var connectNotBeforeMs = Int64.min
    private var stopAtMs: Int64?
    /// The provider token whose refusal holds the queue.
    private var refusedToken: Int?
    /// The newest provider token that was accepted.
    private var acceptedToken = 0

    init(_ configuration: PushSender.Configuration, inbox: PushInbox, context: TLSContext) {
        self.configuration = configuration
        self.inbox = inbox
        self.context = context
        let endpoint = configuration.endpoint
        self.lookup = NameLookup(host: endpoint.host, port: endpoint.port, wake: inbox.wake)
        self.queue = PushQueue(timing: configuration.timing, jitter: configuration.jitter)
    }

    func run() {
        while true {
            let now = nowMs()
            let arrived = takeSubmissions(atMs: now)
            expire(atMs: now)
            if let stopAtMs, now >= stopAtMs || submissions.isEmpty { break }
            liftHoldIfRenewed(atMs: now)
            connectIfNeeded(atMs: now)
            dispatch(atMs: now)
            // The caller may have called `reconsider()` before these pushes arrived.
            for number in arrived where queue.isWaiting(number) { withdrawIfUnwanted(number) }
            closeSpares(atMs: now)
            publishStatus()
            sleep(untilMs: nextDueMs(atMs: now))
        }
        let now = nowMs()
        for link in links {
            // An answer may have come since the last check.
            link.advance(atMs: now)
            link.close(atMs: now)
            settle(link, atMs: now)
        }
        for number in queue.endAll() { complete(number, .failed(.stopped)) }
        links = []
        publishStatus()
    }

    // MARK: - Pushes

    /// - Returns: The numbers of the pushes handed in since the last turn.
    private func takeSubmissions(atMs now: Int64) -> Range<PushQueue.Number> {
        let next = lastNumber + 1
        let (arrived, mustReconsider, drainMs) = inbox.take()
        for submission in arrived {
            lastNumber += 1
            submissions[lastNumber] = submission
            queue.submit(lastNumber, submission.push, deadlineMs: submission.deadlineMs)
        }
        if mustReconsider {
            for number in queue.waiting { withdrawIfUnwanted(number) }
            for link in links { recall(over: link, atMs: now) }
        }
        if let drainMs { stopAtMs = min(stopAtMs ?? Int64.max, now + drainMs) }
        return next..<(lastNumber + 1)
    }

    /// Ends a waiting push if it is no longer wanted.
    ///
    /// - Returns: Whether it has ended.
    @discardableResult
    private func withdrawIfUnwanted(_ number: PushQueue.Number) -> Bool {
        guard let submission = submissions[number], !submission.isWanted() else { return false }
        if let outcome = queue.withdraw(number).outcome { complete(number, outcome) }
        return true
    }

    /// Takes back unwanted pushes that the socket has not taken yet.
    private func recall(over link: PushLink, atMs now: Int64) {
        for number in link.unwritten where submissions[number]?.isWanted() == false {
            link.abandon(number, atMs: now)
        }
        settle(link, atMs: now)
    }

    private func expire(atMs now: Int64) {
        let (ended, flying) = queue.expire(atMs: now)
        for (number, outcome) in ended { complete(number, outcome) }
        for number in flying {
            for link in links { link.abandon(number, atMs: now) }
        }
        if !flying.isEmpty { for link in links { settle(link, atMs: now) } }
        for number in flying {
            // Its try has just ended, and another would follow.
            if let outcome = queue.fail(number, .deadlinePassed).outcome { complete(number, outcome) }
        }
    }

    private func dispatch(atMs now: Int64) {
        var unflushed = 0
        while queue.hasReady(atMs: now), let link = leastLoaded(atMs: now) {
            do throws(ProviderTokenError) {
                let token = try configuration.providerTokens.current()
                guard link.mayCarry(token) else {
                    link.retire(atMs: now)
                    continue
                }
                guard let number = queue.next(atMs: now) else { break }
                if withdrawIfUnwanted(number) { continue }
                send(number, over: link, token: token, atMs: now)
                unflushed += 1
                // Few pushes at a time wait for the socket, because a push there is hard to withdraw.
                if unflushed % Self.flushedTogether == 0 { link.flush(atMs: now) }
            } catch {
                guard let number = queue.next(atMs: now) else { break }
                obey(queue.fail(number, .providerToken(error)), of: number, link: nil, atMs: now)
            }
        }
        // Looked at after the streams that came free were used again.
        fullSinceMs = queue.hasReady(atMs: now) && isFull ? fullSinceMs ?? now : nil
        for link in links where link.isOpen && !link.isClosed {
            link.flush(atMs: now)
        }
        settleAll(atMs: now)
    }

    /// The connection with room that has the fewest pushes on their way; the oldest of equals, so that the others may
    /// fall idle. One that was silent for long is tried with a PING first and has no room meanwhile.
    private func leastLoaded(atMs now: Int64) -> PushLink? {
        var found: PushLink?
        for link in links where link.capacity > 0 && link.openStreams < (found?.openStreams ?? Int.max) {
            if link.openStreams == 0 {
                link.noteWanted(atMs: now)
                if link.capacity == 0 { continue }
            }
            found = link
        }
        return found
    }

    private func send(
        _ number: PushQueue.Number, over link: PushLink, token: ProviderTokenSource.Signed, atMs now: Int64
    ) {
        let attempt = queue.attempts(number)
        let push = queue.push(number)
        submissions[number]?.began(attempt)
        do throws(TransportFault) {
            try link.send(push, number: number, attempt: attempt, token: token, atMs: now)
        } catch {
            submissions[number]?.attempted(
                PushAttempt(
                    number: attempt, connection: link.number, apnsID: push.apnsID, ending: .notProcessed,
                    startedMs: configuration.clock.now().unixMs, durationMs: 0))
            let verdict = queue.broken(number, notProcessed: true, why: error.description, atMs: now)
            link.retire(atMs: now)
            obey(verdict, of: number, link: link, atMs: now)
        }
    }

    /// Reports a link's finished tries to the queue and acts on their consequences.
    private func settle(_ link: PushLink, atMs now: Int64) {
        for ended in link.takeEnded() {
            report(ended, link)
            let verdict: PushQueue.Verdict
            if let answer = ended.answer {
                let renewed = renewToken(ended.tokenNumber, after: answer)
                verdict = queue.answered(ended.number, answer, renewed: renewed, atMs: now)
                if let alarm = verdict.alarm, Self.isOfToken(alarm) { refusedToken = ended.tokenNumber }
            } else {
                let notProcessed = ended.ending == .notProcessed
                verdict = queue.broken(ended.number, notProcessed: notProcessed, why: ended.why, atMs: now)
            }
            obey(verdict, of: ended.number, link: link, atMs: now)
        }
    }

    /// Takes the answer's consequence for the provider token.
    ///
    /// - Returns: Whether the token was refused and there is a newer one.
    private func renewToken(_ number: Int, after answer: PushAnswer) -> Bool {
        let tokens = configuration.providerTokens
        switch answer.rejection?.reason {
        case nil:
            if number > acceptedToken {
                acceptedToken = number
                tokens.noteAccepted(number)
            }
            return false
        case .expiredProviderToken?:
            return (try? tokens.renew(expired: number)) ?? false
        case .invalidProviderToken?:
            // APNs calls a token from the future invalid. If the clock was set since, there is a newer token.
            return (try? tokens.current()).map { $0.number > number } ?? false
        default:
            return false
        }
    }

    /// Whether a newer provider token may be accepted after this refusal.
    private static func isOfToken(_ reason: PushReason) -> Bool {
        reason == .expiredProviderToken || reason == .invalidProviderToken
    }

    /// Whether pushes wait for a provider token that APNs accepts.
    private var waitsForToken: Bool {
        refusedToken != nil && queue.heldBecause.map(Self.isOfToken) == true && queue.count > queue.inFlightCount
    }

    /// Ends the hold for the provider token if there is a newer one, for example after the clock was set.
    private func liftHoldIfRenewed(atMs now: Int64) {
        guard waitsForToken, let refusedToken, let token = try? configuration.providerTokens.current(),
            token.number > refusedToken
        else { return }
        self.refusedToken = nil
        queue.liftHold(atMs: now)
    }

    private func obey(_ verdict: PushQueue.Verdict, of number: PushQueue.Number, link: PushLink?, atMs now: Int64) {
        if let alarm = verdict.alarm { configuration.diagnose(.held(alarm)) }
        if verdict.needsNewConnection { link?.retire(atMs: now) }
        if let outcome = verdict.outcome {
            complete(number, outcome)
        } else {
            // Checked now and not only before the next try, which may be minutes away.
            withdrawIfUnwanted(number)
        }
    }

    private func report(_ ended: PushLink.Ended, _ link: PushLink) {
        let ending: PushAttempt.Ending
        switch (ended.ending, ended.answer) {
        case (.answered, let answer?):
            ending = answer.rejection.map { .rejected($0) } ?? .accepted(uniqueID: answer.uniqueID)
        case (.notProcessed, _):
            ending = .notProcessed
        default:
            ending = .unknown(ended.why)
        }
        submissions[ended.number]?.attempted(
            PushAttempt(
                number: ended.attempt, connection: link.number, apnsID: ended.apnsID, ending: ending,
                startedMs: ended.startedMs, durationMs: ended.durationMs))
    }

    private func complete(_ number: PushQueue.Number, _ outcome: PushOutcome) {
        guard let submission = submissions.removeValue(forKey: number) else { return }
        // The count goes first, so that a caller who sends the next push from the completion finds room.
        let hasMadeRoom = inbox.noteEnded(bound: configuration.outstandingMax)
        submission.completion(outcome)
        if hasMadeRoom { configuration.madeRoom() }
    }

    // MARK: - Connections

    private func connectIfNeeded(atMs now: Int64) {
        guard now >= connectNotBeforeMs, queue.hasReady(atMs: now) else { return }
        if links.contains(where: \.isUsable) {
            guard let fullSinceMs, now - fullSinceMs >= configuration.timing.connectWhenFullMs else { return }
        }
        if addresses.isEmpty {
            let found = lookup.poll()
            isLookingUp = found == nil
            switch found {
            case nil: return
            case .success(let found): addresses = found
            case .failure(let fault): return noteNotConnected(fault, atMs: now)
            }
        }
        while !addresses.isEmpty {
            let address = addresses.removeFirst()
            do throws(TransportFault) {
                let link = try PushLink(
                    number: lastLinkNumber + 1, descriptor: try address.beginConnecting(),
                    endpoint: configuration.endpoint, context: context, timing: configuration.timing,
                    clock: configuration.clock, atMs: now)
                lastLinkNumber += 1
                return links.append(link)
            } catch {
                if addresses.isEmpty { noteNotConnected(error, atMs: now) }
            }
        }
    }

    /// Whether another connection could help: all there are have answered and are full, and there may be one more.
    private var isFull: Bool {
        let usable = links.filter(\.isUsable)
        return usable.count < configuration.connectionsMax && usable.allSatisfy(\.isFull)
    }

    /// Connections beside the oldest one with nothing on their way.
    private var spares: [PushLink] {
        links.count < 2 ? [] : links.filter(\.isUsable).dropFirst().filter { $0.isOpen && $0.openStreams == 0 }
    }

    private func closeSpares(atMs now: Int64) {
        for link in spares where now - link.lastUsedMs >= configuration.timing.closeSpareMs {
            link.close(atMs: now)
            links.removeAll { $0 === link }
            configuration.diagnose(.disconnected(connection: link.number, why: "idle"))
        }
    }

    private func advance(_ link: PushLink, atMs now: Int64) {
        let wasOpen = link.isOpen
        link.advance(atMs: now)
        if !wasOpen && link.isOpen {
            // The next connection resolves the name anew (Apple: no DNS cache).
            addresses = []
            queue.connectFault = nil
            configuration.diagnose(.connected(connection: link.number))
        }
    }

    /// Settles all links and forgets those that are closed.
    private func settleAll(atMs now: Int64) {
        for link in links {
            settle(link, atMs: now)
            if link.takeFirstAnswer() {
                failures = 0
                connectNotBeforeMs = Int64.min
            }
        }
        for link in links where link.isClosed {
            let fault = link.fault ?? TransportFault("closed")
            if link.isOpen {
                configuration.diagnose(.disconnected(connection: link.number, why: fault.description))
                if !link.hasAnswered { noteNotConnected(fault, atMs: now) }
            } else if addresses.isEmpty {
                noteNotConnected(fault, atMs: now)
            }
        }
        links.removeAll { $0.isClosed }
    }

    private func noteNotConnected(_ fault: TransportFault, atMs now: Int64) {
        let timing = configuration.timing
        let full = min(timing.reconnectMs << Int64(min(failures, 16)), timing.reconnectMsMax)
        let pauseMs = Int64(Double(full) * (0.5 + 0.5 * configuration.jitter()))
        failures += 1
        connectNotBeforeMs = now + pauseMs
        // Pushes that are late while another connection works are not late for this reason.
        if !links.contains(where: { $0.isOpen && $0.isUsable }) { queue.connectFault = fault }
        configuration.diagnose(.notConnected(why: fault.description, againInMs: pauseMs))
    }

    // MARK: - Waiting

    private func sleep(untilMs due: Int64) {
        var polled = [pollfd(fd: inbox.wake.descriptor, events: Int16(POLLIN), revents: 0)]
        for link in links {
            polled.append(pollfd(fd: link.connection.descriptor, events: link.connection.pollEvents, revents: 0))
        }
        let waitMs = due <= nowMs() ? 0 : due - nowMs()
        poll(&polled, nfds_t(polled.count), Int32(clamping: waitMs))
        if polled[0].revents != 0 { inbox.wake.drain() }
        let now = nowMs()
        for (link, ready) in zip(links, polled.dropFirst()) where ready.revents != 0 {
            advance(link, atMs: now)
        }
        for link in links { link.tick(atMs: now) }
        settleAll(atMs: now)
    }

    /// The time of the next turn if there is no event before. Computed for the time of this turn, not a later one: work
    /// that became due in between has not been examined.
    private func nextDueMs(atMs now: Int64) -> Int64 {
        var due = now + Self.sleepMsMax
        if let queueDue = queue.nextDueMs(atMs: now) { due = min(due, queueDue) }
        if let stopAtMs { due = min(due, stopAtMs) }
        if waitsForToken { due = min(due, now + Self.clockLookMs) }
        for link in links { due = min(due, link.nextTimerMs) }
        if queue.hasReady(atMs: now) {
            if !links.contains(where: \.isUsable) {
                if !isLookingUp { due = min(due, connectNotBeforeMs) }
            } else if links.contains(where: { $0.capacity > 0 }) {
                due = now
            } else if let fullSinceMs, !isLookingUp {
                due = min(due, max(connectNotBeforeMs, fullSinceMs + configuration.timing.connectWhenFullMs))
            }
        }
        for link in spares { due = min(due, link.lastUsedMs + configuration.timing.closeSpareMs) }
        return due
    }

    private func publishStatus() {
        inbox.note(
            PushSenderStatus(
                openConnections: links.count { $0.isOpen }, outstanding: queue.count, inFlight: queue.inFlightCount,
                heldBecause: queue.heldBecause, connectFault: queue.connectFault?.description))
    }

    private func nowMs() -> Int64 { configuration.clock.now().monotonicMs }
}
