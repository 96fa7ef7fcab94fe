import Geodesy

/// The changes that the waypoints of one report make to a person's regions. A new waypoint adds a region, a changed one
/// replaces it, a deleted one removes it, and a known one changes nothing.
struct WaypointChanges {
    private let person: PersonID
    private var next: Int64
    /// The person's regions after the waypoints so far.
    private var regions: [(id: RegionID, region: Region)]

    init(of person: PersonID, in standing: Standing) {
        self.person = person
        next = standing.regions.next
        regions = (standing.persons[person]?.regions ?? []).compactMap { id in standing.regions[id].map { (id, $0) } }
    }

    /// Appends the changes of the waypoint.
    mutating func take(_ waypoint: Waypoint, into decision: inout Decision) -> FixOutcome {
        let known = regions.firstIndex { $0.region.waypoint == waypoint.created }
        guard let circle = waypoint.circle else {
            guard let known else { return .duplicate }
            remove(at: known, &decision)
            return .new
        }
        if let known {
            let region = regions[known].region
            // A name that was taken gets a number.
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

    /// `name`, or `name` with the lowest number that no other region has: apps allow two regions with the same name.
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
