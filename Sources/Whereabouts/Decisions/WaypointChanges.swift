import Geodesy

/// What the waypoints of one report make of a person's regions: a new one adds a region, a changed one replaces it, a
/// deleted one removes it, and one that is known changes nothing.
struct WaypointChanges {
    private let person: PersonID
    private var next: Int64
    /// Of the person, with what the waypoints before made of them.
    private var regions: [(id: RegionID, region: Region)]

    init(of person: PersonID, in standing: Standing) {
        self.person = person
        next = standing.nextRegion
        regions = (standing.persons[person]?.regions ?? []).compactMap { id in standing.regions[id].map { (id, $0) } }
    }

    /// Appends what the waypoint changes.
    mutating func take(_ waypoint: Waypoint, into decision: inout Decision) -> FixOutcome {
        let known = regions.firstIndex { $0.region.waypoint == waypoint.created }
        guard let circle = waypoint.circle else {
            guard let known else { return .duplicate }
            remove(at: known, &decision)
            return .new
        }
        if let known {
            let region = regions[known].region
            // A name that was taken has a number behind it.
            let isSameName =
                region.identifier == waypoint.name || region.identifier == freeName(waypoint.name, besides: known)
            if region.area == .circle(circle), isSameName { return .duplicate }
        }
        guard known != nil || regions.count < Limits.regionsPerPerson else { return .rejected(.tooLarge) }
        if let known { remove(at: known, &decision) }
        let region = Region(identifier: freeName(waypoint.name), area: .circle(circle), waypoint: waypoint.created)
        let id = RegionID(rawValue: next)
        next += 1
        regions.append((id, region))
        decision.append(.regionAdded(id, .open(region)), to: .audit(person))
        return .new
    }

    private mutating func remove(at index: Int, _ decision: inout Decision) {
        decision.append(.regionRemoved(regions.remove(at: index).id), to: .audit(person))
    }

    /// `name`, or with the first number behind it that makes it another than those of the other regions: an app lets two
    /// regions have one name.
    private func freeName(_ name: String, besides index: Int? = nil) -> String {
        let taken = Set(regions.indices.lazy.filter { $0 != index }.map { regions[$0].region.identifier })
        var number = 1
        while true {
            let suffix = number == 1 ? "" : " \(number)"
            let free = name.prefix(Limits.regionNameCharacters - suffix.count) + suffix
            if !taken.contains(String(free)) { return String(free) }
            number += 1
        }
    }
}
