/// The outcome of an import's fixes of one device.
package struct ImportOutcome: Hashable, Sendable {
    /// Whether the person or the device did not exist before.
    package let addedPerson, addedDevice: Bool
    /// One outcome for each report, in their order.
    package let fixes: [FixOutcome]

    package init(addedPerson: Bool, addedDevice: Bool, fixes: [FixOutcome]) {
        (self.addedPerson, self.addedDevice, self.fixes) = (addedPerson, addedDevice, fixes)
    }
}

/// The outcome of one reported fix.
package enum FixOutcome: Hashable, Sendable {
    /// An event was made of it.
    case new
    /// New, with the device, time and place of another fix that differs in another field. Both are events.
    case twin
    /// Known already: acknowledged, without another event.
    case duplicate
    /// It cannot be used; it is kept with the reason.
    case rejected(RejectionReason)

    /// The outcomes of one report. Most are new, and all of those share one array.
    static func only(_ outcome: FixOutcome) -> [FixOutcome] { outcome == .new ? onlyNew : [outcome] }

    private static let onlyNew = [FixOutcome.new]
}
