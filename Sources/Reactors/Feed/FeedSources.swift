package import Answers
package import Gazetteer
package import Whereabouts

/// What feeds are made from.
package struct FeedSources: Sendable {
    /// The log, the projections' progress and the time zones.
    package let views: Views
    /// The last requests of devices, for reports that were rejected.
    package let deviceContacts: DeviceContacts
    /// The gazetteer; `nil` if its files are not installed.
    package let gazetteer: Gazetteer?

    package init(views: Views, deviceContacts: DeviceContacts, gazetteer: Gazetteer?) {
        self.views = views
        self.deviceContacts = deviceContacts
        self.gazetteer = gazetteer
    }

    /// The log, the clock and the callers' references.
    package var decisions: Decisions { views.decisions }

    /// A writer of a person's items.
    package func writer(of person: PersonID, in languages: [Language] = []) -> FeedWriter {
        FeedWriter(of: person, self, in: languages)
    }
}
