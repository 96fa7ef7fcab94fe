package import Geodesy

/// A region as an app has it that lets its user draw regions (OwnTracks): created, changed or deleted there.
package struct Waypoint: Hashable, Sendable {
    /// When its user created it, by which the app names it for ever.
    package let created: Timestamp
    /// The user's name for it: 1 to ``Limits/regionNameCharacters`` characters.
    package let name: String
    /// `nil`: deleted.
    package let circle: Circle?

    package init(created: Timestamp, name: String, circle: Circle?) {
        (self.created, self.name, self.circle) = (created, name, circle)
    }
}
