package import Geodesy
package import Whereabouts

/// What this computer knows about places without asking anyone: their names and time zones.
package struct LocalPlaces {
    /// The name of a place for other people, for example "Favoriten, Wien".
    let name: (Coordinate) -> String?
    /// The IANA name of the time zone of a place.
    let timeZone: (Coordinate) -> String?
    /// The local times of a time zone between two times.
    let rules: (_ timeZone: String, _ from: Timestamp, _ to: Timestamp) -> ZoneRules?

    package init(
        name: @escaping (Coordinate) -> String?, timeZone: @escaping (Coordinate) -> String?,
        rules: @escaping (_ timeZone: String, _ from: Timestamp, _ to: Timestamp) -> ZoneRules?
    ) {
        (self.name, self.timeZone, self.rules) = (name, timeZone, rules)
    }

    /// A computer without a gazetteer: answers have no names and no time zones, and their dates are those of UTC.
    package static var unknown: LocalPlaces {
        LocalPlaces(name: { _ in nil }, timeZone: { _ in nil }, rules: { _, _, _ in nil })
    }
}
