package import Geodesy

/// A region that a user created, changed or deleted in an app (OwnTracks).
package struct Waypoint: Hashable, Sendable {
    /// When the user created it, which the app uses as its id.
    package let created: Timestamp
    /// The user's name for it: 1 to ``Limits/regionNameCharacters`` characters.
    package let name: String
    /// `nil` if it was deleted.
    package let circle: Circle?

    package init(created: Timestamp, name: String, circle: Circle?) {
        (self.created, self.name, self.circle) = (created, name, circle)
    }
}
