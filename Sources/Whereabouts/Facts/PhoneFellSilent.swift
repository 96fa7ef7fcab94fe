/// A device has sent no fix for the time set by one of its owner's webhooks. The next fix ends the silence.
enum PhoneFellSilent: Fact {
    static let kind = EventKind.phoneFellSilent
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: Silence?
        if case .phoneFellSilent(let silence)? = event { given = silence }
        let device = try fact.clear.required(1, "device", given?.device)
        let after = try fact.clear.required(2, Label("after", note: "seconds"), given?.afterSeconds)
        let since = try fact.clear.required(
            3, Label("since", note: "when its last fix was recorded"), given?.since)
        return .phoneFellSilent(Silence(device: device, afterSeconds: after, since: since))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .phoneFellSilent(let silence) = recorded.event else { return .nothing }
        return .change(SettingChange(item: silence.device.rawValue, other: silence.device.principal))
    }
}
