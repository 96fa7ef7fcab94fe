import Gazetteer
import Whereabouts

/// What feeds are made from.
struct FeedSources: Sendable {
    /// The log, the projections' progress and the time zones.
    let views: Views
    /// The last requests of devices, for reports that were rejected.
    let deviceContacts: DeviceContacts
    /// The gazetteer; `nil` if its files are not installed.
    let gazetteer: Gazetteer?

    /// The log, the clock and the callers' references.
    var decisions: Decisions { views.decisions }

    /// A writer of a person's items.
    func writer(of person: PersonID, in languages: [Language] = []) -> FeedWriter {
        FeedWriter(of: person, self, in: languages)
    }
}
