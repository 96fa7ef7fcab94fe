/// The gazetteer's names for a coordinate, with the keys of `CLPlacemark`; absent if unknown.
package struct PlacemarkItem: Reply, Hashable {
    package var name: String?
    /// The older name of `isoCountryCode`, kept for callers that read it.
    package var countryCode: String?
    package var thoroughfare: String?
    package var subThoroughfare: String?
    package var subLocality: String?
    package var locality: String?
    package var subAdministrativeArea: String?
    package var administrativeArea: String?
    package var administrativeAreaCode: String?
    package var postalCode: String?
    package var isoCountryCode: String?
    package var country: String?
    package var inlandWater: String?
    package var ocean: String?
    package var areasOfInterest: [String]?
    package var claimants: [String]?
    package var otherCountryCodes: [String]?
    package var timeZone: String?
    package var otherTimeZones: [String]?
    /// The nearest populated place, or the place that was found.
    package var at: MapPoint?
    /// Meters.
    package var distance: Double?
    package var geonameId: Int64?
    package var population: Int64?
    /// How the name fits a search.
    package var match: String?

    package init(
        name: String? = nil, countryCode: String? = nil, thoroughfare: String? = nil, subThoroughfare: String? = nil,
        subLocality: String? = nil, locality: String? = nil, subAdministrativeArea: String? = nil,
        administrativeArea: String? = nil, administrativeAreaCode: String? = nil, postalCode: String? = nil,
        isoCountryCode: String? = nil, country: String? = nil, inlandWater: String? = nil, ocean: String? = nil,
        areasOfInterest: [String]? = nil, claimants: [String]? = nil, otherCountryCodes: [String]? = nil,
        timeZone: String? = nil, otherTimeZones: [String]? = nil, at: MapPoint? = nil, distance: Double? = nil,
        geonameId: Int64? = nil, population: Int64? = nil, match: String? = nil
    ) {
        (self.name, self.countryCode, self.thoroughfare, self.subThoroughfare) = (
            name, countryCode, thoroughfare, subThoroughfare
        )
        (self.subLocality, self.locality, self.subAdministrativeArea, self.administrativeArea) = (
            subLocality, locality, subAdministrativeArea, administrativeArea
        )
        (self.administrativeAreaCode, self.postalCode, self.isoCountryCode, self.country) = (
            administrativeAreaCode, postalCode, isoCountryCode, country
        )
        (self.inlandWater, self.ocean, self.areasOfInterest, self.claimants) = (
            inlandWater, ocean, areasOfInterest, claimants
        )
        (self.otherCountryCodes, self.timeZone, self.otherTimeZones, self.at) = (
            otherCountryCodes, timeZone, otherTimeZones, at
        )
        (self.distance, self.geonameId, self.population, self.match) = (distance, geonameId, population, match)
    }

    package static var invented: Self {
        Self()
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.optional("name", &name)
        try members.optional("countryCode", &countryCode)
        try members.optional("thoroughfare", &thoroughfare)
        try members.optional("subThoroughfare", &subThoroughfare)
        try members.optional("subLocality", &subLocality)
        try members.optional("locality", &locality)
        try members.optional("subAdministrativeArea", &subAdministrativeArea)
        try members.optional("administrativeArea", &administrativeArea)
        try members.optional("administrativeAreaCode", &administrativeAreaCode)
        try members.optional("postalCode", &postalCode)
        try members.optional("isoCountryCode", &isoCountryCode)
        try members.optional("country", &country)
        try members.optional("inlandWater", &inlandWater)
        try members.optional("ocean", &ocean)
        try members.optional("areasOfInterest", &areasOfInterest)
        try members.optional("claimants", &claimants)
        try members.optional("otherCountryCodes", &otherCountryCodes)
        try members.optional("timeZone", .timeZone, &timeZone)
        try members.optional("otherTimeZones", .list(.timeZone), &otherTimeZones)
        try members.optionalPoint(&at)
        try members.optional("distance", .described(.length, "Meters to the nearest populated place."), &distance)
        try members.optional("geonameId", .integer, &geonameId)
        try members.optional("population", &population)
        try members.optional("match", .words(["exact", "prefix", "misspelled", "nameOnly", "partial"]), &match)
    }
}
