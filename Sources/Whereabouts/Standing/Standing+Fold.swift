extension Standing {
    /// Folds one event. Events must come in the order of their numbers, without gaps.
    package mutating func fold(_ recorded: RecordedEvent) {
        precondition(recorded.number == place + 1, "Events are folded in the order of their numbers.")
        place = recorded.number
        lastRecordedAt = recorded.recordedAt
        versions[recorded.stream] = recorded.version
        keep(keyed: recorded)
        switch recorded.event {
        case .fixReported(let device, _, let part):
            foldFix(recorded, device: device, part)
        case .inputRejected(let device, _, _, let input):
            devices[device]?.keep(input.content?.hash)
        case .messageReported(let device, let message): devices[device]?.keep(message.content?.hash)
        case .personAdded(let person, let handle):
            persons[person] = Person(handle: handle.content, root: root(causedBy: recorded.cause))
            if let handle = handle.content { personByHandle[handle] = person }
            nextPrincipal = max(nextPrincipal, person.rawValue + 1)
        case .deviceAdded(let device, let person, let handle):
            devices[device] = Device(person: person, handle: handle.content)
            persons[person]?.devices.append(device)
            if let handle = handle.content { deviceByHandle[handle] = device }
            nextPrincipal = max(nextPrincipal, device.rawValue + 1)
        case .deviceRemoved(let device): remove(device)
        case .tokenIssued(let token):
            tokens[token.id] = Token(issued: token)
            tokenByHash[token.hash] = token.id
            nextToken = token.id.rawValue + 1
        case .tokenRevoked(let token): revoke(token)
        case .grantGiven(let grant):
            grants[grant.id] = grant
            persons[grant.subject]?.grants.append(grant.id)
            if let requester = grant.requester { grantsByRequester[requester, default: []].insert(grant.id) }
            nextGrant = grant.id.rawValue + 1
            if let invitation = grant.invitation { close(invitation) }
        case .grantRevoked(let id): revoke(id)
        case .linkAdded(let link):
            nextPrincipal = max(nextPrincipal, link.id.rawValue + 1)
            links.add(link, in: recorded.stream)
        case .linkOpened(let id): links.open(id, at: recorded.recordedAt)
        case .linkEnded(let id): links.end(id)
        case .regionAdded(let id, let region):
            nextRegion = id.rawValue + 1
            guard let person = recorded.stream.person, let region = region.content else { break }
            regions[id] = region
            persons[person]?.regions.append(id)
        case .regionRemoved(let id):
            regions[id] = nil
            if let person = recorded.stream.person { persons[person]?.regions.removeAll { $0 == id } }
        case .scheduleSet(let seconds, let until):
            guard let person = recorded.stream.person else { break }
            let id = ScheduleID(rawValue: recorded.number)
            schedules[id] = Schedule(
                person: person, everySeconds: seconds, until: until, setAt: recorded.recordedAt, askedAt: nil)
            persons[person]?.schedules.append(id)
        case .scheduleRemoved(let id):
            guard let schedule = schedules.removeValue(forKey: id) else { break }
            persons[schedule.person]?.schedules.removeAll { $0 == id }
        case .webhookAdded(let token, let topics, _):
            guard let person = recorded.stream.person else { break }
            webhooks[WebhookID(rawValue: recorded.number)] = Webhook(
                person: person, token: token, topics: topics, place: recorded.number)
        case .webhookRemoved(let id): webhooks[id] = nil
        case .webhookSettled(let id, let settlement): webhooks[id]?.settle(settlement)
        case .webhookFailed(let failure):
            webhooks[failure.webhook]?.note(failure, as: DeadLetterID(rawValue: recorded.number))
        case .correctionMade(let correction):
            guard let person = recorded.stream.person, let correction = correction.content else { break }
            persons[person]?.corrections[CorrectionID(rawValue: recorded.number)] = correction
        case .correctionWithdrawn(let id):
            if let person = recorded.stream.person { persons[person]?.corrections[id] = nil }
        case .fixesWithdrawn(let fixes, _):
            guard let person = recorded.stream.person else { break }
            persons[person]?.withdrawn.insert(fixes.numbers)
            persons[person]?.withdrawnThrough = recorded.number
        case .fixesRestored(let fixes, _):
            if let person = recorded.stream.person { persons[person]?.withdrawn.remove(fixes.numbers) }
        case .authorizationReported(let device, let report):
            guard let report = report.content else { break }
            devices[device]?.note(
                AuthorizationHeld(report: report, since: min(report.timestamp, recorded.recordedAt)))
        case .sharingPaused(let person, let until): pause(person, until: until, at: recorded.recordedAt)
        case .sharingResumed(let person): endPause(of: person, at: recorded.recordedAt)
        case .invitationMade(let invitation):
            nextInvitation = invitation.id.rawValue + 1
            invitations[invitation.id] = invitation
            invitationByHash[invitation.hash] = invitation.id
            persons[invitation.subject]?.invitations.append(invitation.id)
        case .invitationWithdrawn(let id): close(id)
        case .invitationRefused(let principal): countRefusal(by: principal, at: recorded.recordedAt)
        case .accountInvitationMade(let hash, let expires):
            let id = AccountInvitationID(rawValue: recorded.number)
            accountInvitations[id] = AccountInvitation(
                hash: hash, expires: expires, inviter: recorded.stream.person?.principal ?? .operator)
            accountInvitationByHash[hash] = id
            if let inviter = recorded.stream.person { noteAccountInvitation(by: inviter, at: recorded.recordedAt) }
        case .accountInvitationClosed(let id): close(id)
        case .consentAsked(let query): queries[query]?.consent = .asked
        case .consentGiven(let query): queries[query]?.consent = .given
        case .sightingReported(let device, _, let sighting):
            guard let sighting = sighting.content else { break }
            devices[device]?.remember(sighting)
        case .locationPushTokenRegistered(let device, let environment, let token):
            devices[device]?.pushToken = token.content.map {
                PushToken(token: $0, environment: environment, registeredAt: recorded.recordedAt)
            }
        case .locationPushTokenRetired(let device, _): devices[device]?.pushToken = nil
        case .locationQueried(let query): foldQuery(recorded, query)
        case .locationQueryEnded(let id, let end, let fix):
            guard let subject = queries[id]?.subject else { break }
            queries[id]?.end = end
            queries[id]?.endedAt = recorded.recordedAt
            queries[id]?.fix = fix
            if let fix, let person = persons[subject] {
                let known = [person.newestFix, person.newestFixBeforePause].compactMap { $0 }
                queries[id]?.cell = known.first { $0.number == fix }?.cell
            }
            removeFromOpen(id, of: subject)
            if end == .answeredFromLastKnown, let query = queries[id] {
                // No push was needed, so it counts as a read.
                change(under: query.verdict, of: query.requester, about: subject) { asks, now in
                    asks.pushes.giveBack(at: Limits.pushesPerAsker)
                    asks.reads.take(at: Limits.readsPerAsker, now: now)
                }
            }
        case .locationRead(let read):
            if read.verdict.isRefused { countRefusal(by: read.reader, at: recorded.recordedAt) }
            if read.continuing == nil { foldRead(recorded, read) }
        case .refusalsCounted(let principal, _, _): refusals[principal] = nil
        case .personErased(let person): erase(person)
        case .locationPushStarted(let query, let device):
            devices[device]?.pushes.take(at: Limits.pushBudget, now: recorded.recordedAt)
            devices[device]?.lastPushAt = recorded.recordedAt
            queries[query]?.noteStart(device, at: recorded.recordedAt, wokenBefore: devices[device]?.wokenAt)
            devices[device]?.wokenAt = recorded.recordedAt
        case .locationReportCommanded(let query, let device): queries[query]?.commanded.append(device)
        case .locationPushTested(let attempt):
            guard attempt.isTestLeaving else {
                if devices[attempt.device]?.testUnderWay == attempt.query {
                    devices[attempt.device]?.testUnderWay = nil
                }
                break
            }
            devices[attempt.device]?.testUnderWay = attempt.query
            devices[attempt.device]?.pushes.take(at: Limits.pushBudget, now: recorded.recordedAt)
            devices[attempt.device]?.lastPushAt = recorded.recordedAt
            devices[attempt.device]?.wokenAt = recorded.recordedAt
        case .locationPushWithheld(let query, let reason):
            if reason == .noDevice { queries[query]?.hasNoDevice = true }
        case .locationPushAttempted(let attempt):
            if let reason = attempt.withheld {
                queries[attempt.query]?.withheld.append(Query.Withheld(device: attempt.device, reason: reason))
            } else {
                queries[attempt.query]?.note(attempt)
                noteWoken(attempt)
            }
        case .clockSteppedBack(let milliseconds): follow(clockSteppedBackBy: milliseconds)
        case .locationDisclosed(let disclosure):
            if queries[disclosure.query]?.isDisclosed == true {
                take(.read, under: disclosure.verdict, of: disclosure.requester, about: disclosure.subject)
            }
            queries[disclosure.query]?.isDisclosed = true
        case .consentRefused, .logRestored, .lossAccepted, .operatorActed: break
        }
        forgetOldQueries(at: recorded.recordedAt)
    }

    private mutating func foldFix(_ recorded: RecordedEvent, device: DeviceID, _ part: Part<Fix>) {
        guard case .open(let fix) = part, let person = recorded.stream.person else { return }
        // In place: taking a value out of its dictionary and putting it back costs as much as the rest of the fold.
        devices.change(device) { $0.note(fix.timestamp) }
        // A fix that folds would not use as the newest location must not answer a query either.
        let isUsable =
            (fix.horizontalAccuracy ?? 0) >= 0
            && fix.timestamp <= (fix.receivedAt ?? recorded.recordedAt).adding(seconds: Limits.futureUnusedSeconds)
        if isUsable { persons.change(person) { $0.note(fix, number: recorded.number) } }
    }

    /// Takes back ``Device/wokenAt`` if APNs certainly did not accept the push.
    private mutating func noteWoken(_ attempt: LocationPushAttempt) {
        guard let push = queries[attempt.query]?.pushes.first(where: { $0.device == attempt.device }),
            let device = devices[attempt.device], !device.isRemoved
        else { return }
        if push.mayHaveArrived {
            devices[attempt.device]?.wokenAt = max(device.wokenAt ?? push.startedAt, push.startedAt)
        } else if device.wokenAt == push.startedAt {
            devices[attempt.device]?.wokenAt = push.wokenBefore
        }
    }

    private mutating func foldQuery(_ recorded: RecordedEvent, _ query: LocationQuery) {
        if query.verdict.isRefused {
            countRefusal(by: query.requester, at: recorded.recordedAt)
            return
        }
        guard let subject = query.subject else { return }
        queries[query.id] = Query(
            subject: subject, requester: query.requester, verdict: query.verdict, initiation: query.initiation,
            number: recorded.number, askedAt: recorded.recordedAt, deadline: query.deadline)
        if let permit = coarsePermit(of: query.verdict) {
            let newest = newestFix(under: permit)
            queries[query.id]?.shownWhenAsked = newest.map { permit.precision.shown($0.timestamp) }
        }
        openQueries[subject, default: []].append(query.id)
        openQueryCount += 1
        queryOrder.append(query.id)
        if query.requester == .house { schedules[ScheduleID(rawValue: recorded.cause)]?.askedAt = recorded.recordedAt }
        take(.push, under: query.verdict, of: query.requester, about: subject)
    }

    private mutating func foldRead(_ recorded: RecordedEvent, _ read: LocationRead) {
        guard let subject = read.subject else { return }
        let rate = rate(of: .read, for: read.reader)
        change(under: read.verdict, of: read.reader, about: subject) { asks, now in
            asks.reads.take(at: rate, now: now)
            guard let content = read.content.content else { return }
            asks.begin(
                Asks.Begun(
                    id: recorded.correlation, question: read.question, from: content.from, to: content.to, at: now))
        }
    }

    /// Pauses keep their remaining time: a corrected clock must not silence a device for a day.
    private mutating func follow(clockSteppedBackBy milliseconds: Int64) {
        for (id, schedule) in schedules {
            schedules[id]?.setAt = schedule.setAt.stepped(back: milliseconds)
            schedules[id]?.askedAt = schedule.askedAt?.stepped(back: milliseconds)
        }
        followInvitations(clockSteppedBackBy: milliseconds)
        links.follow(clockSteppedBackBy: milliseconds)
        for pair in asks.keys {
            asks[pair]?.pushes.follow(clockSteppedBackBy: milliseconds)
            asks[pair]?.reads.follow(clockSteppedBackBy: milliseconds)
        }
        for (id, device) in devices where device.lastPushAt != nil || device.authorization != nil {
            devices[id]?.pushes.follow(clockSteppedBackBy: milliseconds)
            devices[id]?.lastPushAt = device.lastPushAt?.stepped(back: milliseconds)
            devices[id]?.wokenAt = device.wokenAt?.stepped(back: milliseconds)
            // Reports from now on must count.
            if let since = device.authorization?.since {
                devices[id]?.authorization?.since = min(since, lastRecordedAt)
            }
        }
        for ids in openQueries.values {
            for id in ids { queries[id]?.follow(clockSteppedBackBy: milliseconds) }
        }
    }

    private mutating func remove(_ device: DeviceID) {
        guard let known = devices[device] else { return }
        if let handle = known.handle, deviceByHandle[handle] == device { deviceByHandle[handle] = nil }
        devices[device]?.isRemoved = true
        devices[device]?.pushToken = nil
        devices[device]?.kept = []
        for (id, token) in tokens where token.issued.principal == device.principal { revoke(id) }
    }

    private mutating func revoke(_ token: TokenID) {
        guard let known = tokens[token] else { return }
        tokens[token]?.isRevoked = true
        tokenByHash[known.issued.hash] = nil
    }

    private mutating func revoke(_ id: GrantID) {
        guard let grant = grants[id] else { return }
        grants[id] = nil
        persons[grant.subject]?.grants.removeAll { $0 == id }
        if let requester = grant.requester {
            grantsByRequester[requester]?.remove(id)
            if grantsByRequester[requester]?.isEmpty == true { grantsByRequester[requester] = nil }
        }
        if let requester = grant.requester, grants(of: grant.subject, for: requester).isEmpty {
            asks[Asks.Pair(asker: requester, subject: grant.subject)] = nil
        }
    }

    private mutating func pause(_ id: PersonID, until: Timestamp?, at now: Timestamp) {
        guard let person = persons[id] else { return }
        if let last = person.pauses.last, last.contains(now) {
            persons[id]?.pauses[person.pauses.count - 1].until = until
        } else {
            persons[id]?.pauses.append(Pause(from: now, until: until))
            persons[id]?.newestFixBeforePause = person.newestFix
        }
    }

    private mutating func endPause(of id: PersonID, at now: Timestamp) {
        guard let person = persons[id], let last = person.pauses.last, last.contains(now) else { return }
        persons[id]?.pauses[person.pauses.count - 1].until = now
    }

    private mutating func close(_ id: InvitationID) {
        guard let invitation = invitations.removeValue(forKey: id) else { return }
        invitationByHash[invitation.hash] = nil
        persons[invitation.subject]?.invitations.removeAll { $0 == id }
    }

    private mutating func removeFromOpen(_ query: QueryID, of subject: PersonID) {
        guard let index = openQueries[subject]?.firstIndex(of: query) else { return }
        openQueries[subject]?.remove(at: index)
        openQueryCount -= 1
        if openQueries[subject]?.isEmpty == true { openQueries[subject] = nil }
    }

    private mutating func close(_ id: AccountInvitationID) {
        guard let invitation = accountInvitations.removeValue(forKey: id) else { return }
        accountInvitationByHash[invitation.hash] = nil
    }

    /// Leaves the same as a refold without the person's keys: a principal without a name, devices or rights.
    private mutating func erase(_ person: PersonID) {
        guard let known = persons[person] else { return }
        for device in known.devices {
            remove(device)
            devices[device]?.handle = nil
            devices[device]?.newestTimestamp = nil
            devices[device]?.pushes = Allowance()
            devices[device]?.lastPushAt = nil
            devices[device]?.wokenAt = nil
            devices[device]?.testUnderWay = nil
            devices[device]?.authorization = nil
            devices[device]?.sightings = []
            keyedRequests[device.principal] = nil
        }
        for grant in known.grants { revoke(grant) }
        for grant in grants.values where grant.requester == person { revoke(grant.id) }
        keyedRequests[person.principal] = nil
        refusals[person.principal] = nil
        asks = asks.filter { $0.key.asker != person && $0.key.subject != person }
        let tokenHolders = links.erase(person) + [person.principal]
        for (id, token) in tokens where tokenHolders.contains(token.issued.principal) { revoke(id) }
        for region in known.regions { regions[region] = nil }
        for invitation in known.invitations { close(invitation) }
        for (id, invitation) in accountInvitations where invitation.inviter == person.principal { close(id) }
        for schedule in known.schedules { schedules[schedule] = nil }
        for webhook in webhooks(of: person) { webhooks[webhook] = nil }
        for (id, query) in queries where query.subject == person || query.requester == person.principal {
            queries[id] = nil
            removeFromOpen(id, of: query.subject)
        }
        queryOrder.removeAll { queries[$0] == nil }
        if let handle = known.handle, personByHandle[handle] == person { personByHandle[handle] = nil }
        var erased = Person(handle: nil, devices: known.devices)
        erased.isErased = true
        persons[person] = erased
    }

    /// Forgets ended queries in the order in which they were asked, so that the rest depends on the log alone. A
    /// deadline may be far in the past when a query ends, if the clock was set forward meanwhile.
    private mutating func forgetOldQueries(at now: Timestamp) {
        var gone = 0
        while gone < queryOrder.count, let query = queries[queryOrder[gone]], query.end != nil,
            max(query.deadline, query.endedAt ?? query.deadline).adding(seconds: Limits.endedQueryKeptSeconds) < now
        {
            queries[queryOrder[gone]] = nil
            gone += 1
        }
        if gone > 0 { queryOrder.removeFirst(gone) }
    }
}

// Changed in place in their dictionary, which saves one of two look-ups.
extension Standing.Device {
    fileprivate mutating func note(_ timestamp: Timestamp) {
        if newestTimestamp.map({ $0 < timestamp }) ?? true { newestTimestamp = timestamp }
    }

    fileprivate mutating func keep(_ hash: Hash256?) {
        guard let hash else { return }
        kept.append(hash)
        if kept.count > Limits.keptRemembered { kept.removeFirst(kept.count - Limits.keptRemembered) }
    }

    fileprivate mutating func remember(_ sighting: Sighting) {
        sightings.append(sighting.mark)
        if sightings.count > Limits.sightingsRemembered {
            sightings.removeFirst(sightings.count - Limits.sightingsRemembered)
        }
    }

    fileprivate mutating func note(_ held: Standing.AuthorizationHeld) {
        if authorization.map({ $0.since <= held.since }) ?? true { authorization = held }
    }
}

extension Standing.Query {
    fileprivate mutating func noteStart(_ device: DeviceID, at now: Timestamp, wokenBefore: Timestamp?) {
        guard let index = pushes.firstIndex(where: { $0.device == device }) else {
            return pushes.append(Push(device: device, startedAt: now, wokenBefore: wokenBefore))
        }
        pushes[index].wokenBefore = wokenBefore
        if pushes[index].state == .underWay {
            pushes[index].tries += 1
            pushes[index].mayHaveArrived = true
        }
        pushes[index].startedAt = now
        pushes[index].starts += 1
        pushes[index].state = .underWay
    }

    fileprivate mutating func note(_ attempt: LocationPushAttempt) {
        guard let index = pushes.firstIndex(where: { $0.device == attempt.device }) else { return }
        pushes[index].tries = max(pushes[index].tries, attempt.attempt)
        if !attempt.outcome.isCertainlyUnaccepted { pushes[index].mayHaveArrived = true }
        pushes[index].state = attempt.endState
    }

    fileprivate mutating func follow(clockSteppedBackBy milliseconds: Int64) {
        for index in pushes.indices {
            pushes[index].startedAt = pushes[index].startedAt.stepped(back: milliseconds)
            pushes[index].wokenBefore = pushes[index].wokenBefore?.stepped(back: milliseconds)
        }
    }
}

extension LocationPushAttempt {
    /// The state of the push after this try.
    fileprivate var endState: Standing.Query.Push.State {
        switch outcome {
        case .accepted: .accepted
        case .unknown, .notProcessed: .unsettled
        case .withheld, .withdrawn, .notSent: .unsent
        case .refused:
            // 403 concerns the service's own key; 429 and 5xx are temporary.
            switch status ?? 0 {
            case 403, 429, 500...: .unsettled
            default: .refused
            }
        }
    }
}

extension Standing.Person {
    /// Takes a fix that may be the newest; keeps the cell or leaves it (``HeldCell``).
    fileprivate mutating func note(_ fix: Fix, number: Int64) {
        guard newestFix.map({ $0.timestamp <= fix.timestamp }) ?? true else { return }
        var cell = newestFix?.cell ?? HeldCell(around: fix.coordinate)
        if !cell.keeps(fix.coordinate), inCellAt.map({ fix.timestamp.seconds(since: $0) >= HeldCell.seconds }) ?? true {
            cell = HeldCell(around: fix.coordinate)
        }
        if cell.keeps(fix.coordinate) { inCellAt = fix.timestamp }
        newestFix = Standing.NewestFix(timestamp: fix.timestamp, number: number, cell: cell)
    }
}
