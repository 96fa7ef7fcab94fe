/// The lists of everything that a service holds about a person.
package enum PersonLists {
    /// The name of each list in an export, and the path of the operation that answers it, which has pages.
    package static let all: [(member: String, path: APIPath)] = [
        ("fixes", .peopleTrack), ("visits", .peopleVisits), ("trips", .peopleTrips), ("crossings", .peopleCrossings),
        ("places", .peoplePlaces), ("regions", .peopleRegions), ("corrections", .peopleCorrections),
        ("schedules", .peopleSchedules), ("devices", .peopleDevices), ("grants", .peopleGrants),
        ("invitations", .peopleInvitations), ("pauses", .peoplePauses), ("tokens", .peopleTokens),
        ("webhooks", .peopleWebhooks), ("asked", .peopleAsked), ("findings", .peopleFindings),
        // The last one, because it includes the export.
        ("audit", .peopleAudit),
    ]
}
