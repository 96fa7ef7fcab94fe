/// The gazetteer's names for a coordinate, with the keys of `CLPlacemark`; absent if unknown.
package struct PlacemarkItem: Reply, Hashable {
    /// The first that is known of address, airport, quarter, town, lake, sea, state and country.
    package var name: String?
    /// The older name of `isoCountryCode`, kept for callers that read it.
    package var countryCode: String?
    /// The street; only with an imported file of addresses.
    package var thoroughfare: String?
    /// The house number.
    package var subThoroughfare: String?
    /// The quarter or village within the town.
    package var subLocality: String?
    /// The town.
    package var locality: String?
    /// The district or county.
    package var subAdministrativeArea: String?
    /// The state or province.
    package var administrativeArea: String?
    /// Its code by ISO 3166-2, for example `AT-9`.
    package var administrativeAreaCode: String?
    /// Of the address, else of the town.
    package var postalCode: String?
    /// Two letters by ISO 3166-1, for example `AT`.
    package var isoCountryCode: String?
    package var country: String?
    /// The lake of a coordinate on one of the world's largest lakes.
    package var inlandWater: String?
    /// The sea of a coordinate at sea.
    package var ocean: String?
    /// For example an airport.
    package var areasOfInterest: [String]?
    /// The codes of the countries that claim contested land, `isoCountryCode` among them.
    package var claimants: [String]?
    /// Other countries within reach of the accuracy.
    package var otherCountryCodes: [String]?
    /// A name of the IANA database.
    package var timeZone: String?
    /// Other time zones within reach of the accuracy.
    package var otherTimeZones: [String]?
    /// The nearest populated place, or the place that was found.
    package var at: MapPoint?
    /// Meters.
    /// From the coordinate that was asked about.
    package var distance: Double?
    /// The place's number at GeoNames.
    package var geonameId: Int64?
    /// Of the populated place, by GeoNames.
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
