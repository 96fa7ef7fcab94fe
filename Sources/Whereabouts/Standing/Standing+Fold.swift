extension Standing {
    /// Folds one event. Events must come in the order of their numbers, without gaps.
    package mutating func fold(_ recorded: RecordedEvent) {
        progress.note(recorded)
        retention.note(recorded.number, at: recorded.recordedAt)
        keep(keyed: recorded)
        let now = recorded.recordedAt
        let (number, person) = (recorded.number, recorded.stream.person)
        switch recorded.event {
        case .personAdded(let id, let handle):
            persons.add(id, handle.content, root: root(causedBy: recorded.cause))
        case .personErased(let id): erase(id)
        case .retentionSet(_, let days): retention.set(days, for: person, by: number)
        case .retentionApplied(let applied, let kept):
            if let person { apply(applied, kept, to: person, at: now) }
        case .deviceAdded(let id, let owner, let handle): add(id, of: owner, handle.content)
        case .deviceRemoved(let id): remove(id)
        case .tokenIssued(let token): tokens.add(token)
        case .tokenRevoked(let id): tokens.revoke(id)
        case .grantGiven(let grant): give(grant)
        case .grantRevoked(let id): revoke(id)
        case .sharingPaused(let id, let until): persons[id]?.pause(until: until, at: now)
        case .sharingResumed(let id): persons[id]?.endPause(at: now)
        case .invitationMade(let invitation): make(invitation)
        case .invitationWithdrawn(let id): close(id)
        case .invitationRefused(let caller): requests.countRefusal(by: caller, at: now)
        case .accountInvitationMade(let hash, let expires):
            make(AccountInvitationID(rawValue: number), hash: hash, expires: expires, by: person, at: now)
        case .accountInvitationClosed(let id): invitations.remove(id)
        case .regionAdded(let id, let region): add(id, region.content, of: person)
        case .regionRemoved(let id): remove(id, of: person)
        case .scheduleSet(let seconds, let until):
            guard let person else { break }
            set(
                ScheduleID(rawValue: number),
                Schedule(person: person, everySeconds: seconds, until: until, setAt: now, askedAt: nil))
        case .scheduleRemoved(let id): remove(id)
        case .webhookAdded(let token, let topics, let terms, _): addWebhook(recorded, token, topics, terms)
        case .webhookConfirmed(let id): webhooks[id]?.confirm(by: number)
        case .webhookRemoved(let id): webhooks.remove(id)
        case .webhookSettled(let id, let settlement): webhooks[id]?.settle(settlement)
        case .webhookFailed(let failure): webhooks[failure.webhook]?.note(failure, as: DeadLetterID(rawValue: number))
        case .phoneFellSilent(let silence): devices.change(silence.device) { $0.reports.note(silence) }
        case .linkAdded(let link): add(link, in: recorded.stream)
        case .linkOpened(let id): links.open(id, at: now)
        case .linkEnded(let id): links.end(id)
        case .correctionMade(let correction):
            guard let person, let correction = correction.content else { break }
            persons[person]?.corrections[CorrectionID(rawValue: number)] = correction
        case .correctionWithdrawn(let id): if let person { persons[person]?.corrections[id] = nil }
        case .fixesWithdrawn(let fixes, _), .visitsWithdrawn(let fixes, _):
            if let person { persons[person]?.withdraw(fixes, at: number) }
            persons.imports.note(revisedBy: recorded, isWithdrawal: true)
        case .fixesRestored(let fixes, _), .visitsRestored(let fixes, _):
            if let person { persons[person]?.withdrawn.numbers.remove(fixes.numbers) }
            persons.imports.note(revisedBy: recorded, isWithdrawal: false)
        case .importBegan(let id, let file): persons.imports.begin(recorded, id, file.content)
        case .importEnded(let counts, let fault): persons.imports.end(recorded, counts, fault)
        case .fixReported(let device, _, let part): foldFix(recorded, device: device, part)
        case .sealedFixReported(let device, _, _): foldSealed(recorded, device: device)
        case .inputRejected(let device, _, _, let input): devices[device]?.reports.keep(input.content?.hash)
        case .messageReported(let device, let message): devices[device]?.reports.keep(message.content?.hash)
        case .sightingReported(let device, _, let sighting):
            if let sighting = sighting.content { devices[device]?.reports.remember(sighting) }
        case .authorizationReported(let device, let report):
            if let report = report.content { devices[device]?.note(report, at: now) }
        case .locationPushTokenRegistered(let device, let environment, let token):
            devices[device]?.push.token = token.content.map {
                PushToken(token: $0, environment: environment, registeredAt: now)
            }
        case .locationPushTokenRetired(let device, _): devices[device]?.push.token = nil
        case .locationQueried(let query): foldQuery(recorded, query)
        case .consentAsked(let query): queries.change(query) { $0.consent = .asked }
        case .consentGiven(let query): queries.change(query) { $0.consent = .given }
        case .locationPushStarted(let query, let device): startPush(query, device, at: now)
        case .locationPushAttempted(let attempt): note(attempt)
        case .locationPushWithheld(let query, let reason):
            if reason == .noDevice { queries.change(query) { $0.waking.hasNoDevice = true } }
        case .locationPushTested(let attempt): devices.note(attempt, at: now)
        case .locationReportCommanded(let query, let device):
            queries.change(query) { $0.waking.commanded.append(device) }
        case .locationQueryEnded(let id, let end, let fix): self.end(id, end, fix: fix, at: now)
        case .locationDisclosed(let disclosure): fold(disclosure)
        case .locationRead(let read): foldRead(recorded, read)
        case .refusalsCounted(let caller, _, _): requests.forgetRefusals(of: caller)
        case .clockSteppedBack(let milliseconds): follow(clockSteppedBackBy: milliseconds)
        // A restored log is a file.
        case .logRestored(_, let mark): (progress.mark, progress.logPlace) = (mark, .sqlite)
        case .lossAccepted(_, _, _, let mark): progress.mark = mark
        case .logMoved(let place): progress.logPlace = place
        case .operatorActed(.testWebhook(let id)): webhooks[id]?.beginTest(by: recorded.number, at: now)
        case .identityKeyPublished(let key): keys(of: person) { $0.publish(key, at: now) }
        case .recipientKeyPublished(let key): keys(of: person) { $0.publish(key, at: now) }
        case .recipientKeyPinned(let pin): keys(of: person) { $0.pin(pin) }
        case .recipientKeyUnpinned(let key): keys(of: person) { $0.unpin(key) }
        case .sealingKeyWithdrawn(let key, let reason): keys(of: person) { $0.withdraw(key, reason) }
        case .deviceSealed(let device, let isSealed): devices.change(device) { $0.isSealed = isSealed }
        case .shardsWitnessed, .personPlaced, .directoryFollowed: foldPlaces(recorded.event)
        case .consentRefused, .operatorActed, .headsCommitted, .sealingRefused: break
        }
        queries.forgetOld(at: now)
    }

    private mutating func addWebhook(
        _ recorded: RecordedEvent, _ token: TokenID, _ topics: FeedTopics, _ terms: NoticeTerms
    ) {
        guard let person = recorded.stream.person else { return }
        webhooks[WebhookID(rawValue: recorded.number)] = Webhook(
            person: person, token: token, topics: topics, terms: terms, addedBy: recorded.number,
            at: recorded.recordedAt)
    }

    /// An envelope ends a silence like an open fix; nothing else of it is known.
    private mutating func foldSealed(_ recorded: RecordedEvent, device: DeviceID) {
        devices.change(device) { $0.reports.hear(at: recorded.recordedAt) }
    }

    /// Changes the keys of the person in whose stream the event is.
    private mutating func keys(of person: PersonID?, _ change: (inout SealingKeys.Keys) -> Void) {
        if let person { sealingKeys.change(person, change) }
    }

    private mutating func foldFix(_ recorded: RecordedEvent, device: DeviceID, _ part: Part<Fix>) {
        guard case .open(let fix) = part, let person = recorded.stream.person else { return }
        // In place: taking a value out of its table and putting it back costs as much as the rest of the fold.
        let isOwn = fix.receivedAt == nil && (recorded.actor == device.principal || recorded.actor == .house)
        let isShown = Fix.isUsable(
            timestamp: fix.timestamp, coordinate: fix.coordinate, horizontalAccuracy: fix.horizontalAccuracy,
            receivedAt: recorded.receipt(of: fix))
        devices.change(device) {
            $0.reports.note(fix.timestamp)
            if isShown { $0.reports.note(usable: fix.timestamp, number: recorded.number) }
            if isOwn { $0.reports.hear(at: recorded.recordedAt) }
        }
        // A fix that folds would not use as the newest location must not answer a query either.
        let isUsable =
            (fix.horizontalAccuracy ?? 0) >= 0
            && fix.timestamp <= (fix.receivedAt ?? recorded.recordedAt).adding(seconds: Limits.futureUnusedSeconds)
        if isUsable { persons.change(person) { $0.newest.note(fix, number: recorded.number) } }
    }

    /// Remaining times stay the same: a corrected clock must not silence a device for a day.
    private mutating func follow(clockSteppedBackBy milliseconds: Int64) {
        persons.follow(clockSteppedBackBy: milliseconds)
        devices.follow(clockSteppedBackBy: milliseconds, to: lastRecordedAt)
        schedules.follow(clockSteppedBackBy: milliseconds)
        links.follow(clockSteppedBackBy: milliseconds)
        webhooks.follow(clockSteppedBackBy: milliseconds)
        queries.follow(clockSteppedBackBy: milliseconds)
        requests.follow(clockSteppedBackBy: milliseconds)
    }

    /// Leaves the same as a refold without the person's keys: a principal without a name, devices or rights.
    private mutating func erase(_ person: PersonID) {
        guard let known = persons[person] else { return }
        for device in known.devices {
            remove(device)
            devices.erase(device)
        }
        for grant in known.sharing.grants { revoke(grant) }
        for grant in grants.all.values where grant.requester == person { revoke(grant.id) }
        tokens.revoke(of: [person.principal] + links.links(of: person).map(\.principal))
        links.forget(person)
        for region in known.regions { regions.remove(region) }
        for invitation in known.sharing.invitations { invitations.remove(invitation) }
        invitations.forget(person)
        for schedule in known.schedules { schedules.remove(schedule) }
        webhooks.forget(person)
        retention.forget(person)
        sealingKeys.forget(person)
        queries.forget(person)
        requests.forget(person, known.devices)
        persons.erase(person)
    }
}
