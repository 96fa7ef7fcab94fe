package import Gazetteer
package import Geodesy
package import JSON

/// Placemarks in answers, with the keys of `CLPlacemark`. A value that the gazetteer does not have is absent.
package enum PlacemarkJSON {
    /// Writes the placemark of a coordinate. `latitude`, `longitude`, `distance` (meters) and `geonameId` are those of
    /// the nearest populated place, even if `name` is an address.
    package static func write(_ placemark: Placemark, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("name", placemark.name)
        fields(of: placemark, into: &writer)
        if let place = placemark.nearestPlace {
            coordinate(of: place, into: &writer)
            distance(place.distanceMeters, into: &writer)
            writer.field("geonameId", place.geonameID)
        }
        writer.endObject()
    }

    /// Writes the placemark of a person's location, without the coordinate and id of the nearest place.
    package static func write(ofPerson placemark: Placemark, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("name", placemark.name)
        // The older name of `isoCountryCode`, kept for callers that read it.
        writer.field("countryCode", placemark.isoCountryCode?.description)
        fields(of: placemark, into: &writer)
        distance(placemark.distanceMeters, into: &writer)
        writer.endObject()
    }

    /// A place found by name: its placemark, and the type that the name was found as.
    private static func write(_ found: FoundPlace, _ placemark: Placemark, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("name", placemark.nameOfFoundPlace)
        fields(of: placemark, into: &writer)
        coordinate(of: found.place, into: &writer)
        writer.field("geonameId", found.place.geonameID)
        writer.field("population", found.place.population == 0 ? nil : found.place.population)
        writer.field("match", found.match.word)
        writer.endObject()
    }

    /// An address, postal code or place of a supplement found by its text, and whether all words of the text matched.
    private static func write(_ found: FoundAddress, _ placemark: Placemark, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("name", placemark.name)
        fields(of: placemark, into: &writer)
        writer.field("latitude", found.coordinate.latitude)
        writer.field("longitude", found.coordinate.longitude)
        writer.field("geonameId", found.geonameID)
        writer.field("match", found.isPartial ? "partial" : "exact")
        writer.endObject()
    }

    /// A country, division, airport or water found by name.
    private static func write(
        _ found: FoundArea, of gazetteer: Gazetteer, in languages: [Language], using transform: GeocentricTransform,
        into writer: inout JSONWriter
    ) {
        writer.beginObject()
        let name = gazetteer.name(of: found, in: languages, using: transform)
        writer.field("name", name)
        switch found.kind {
        case .country, .administrativeArea:
            let isDivision = found.kind == .administrativeArea
            writer.field("administrativeArea", isDivision ? name : nil)
            writer.field("administrativeAreaCode", gazetteer.administrativeAreaCode(of: found))
            writer.field("isoCountryCode", gazetteer.country(of: found)?.description)
            writer.field("country", gazetteer.countryName(of: found, in: languages))
        case .airport, .water:
            fields(of: gazetteer.placemark(at: found.coordinate, using: transform).speaking(languages), into: &writer)
        }
        writer.field("latitude", found.coordinate.latitude)
        writer.field("longitude", found.coordinate.longitude)
        writer.field("population", found.population == 0 ? nil : found.population)
        writer.field("match", found.match.word)
        writer.endObject()
    }

    /// Writes one result of a search: a place, an area or an address, with `match` for how its name fits.
    package static func write(
        _ found: Found, of gazetteer: Gazetteer, in languages: [Language], using transform: GeocentricTransform,
        into writer: inout JSONWriter
    ) {
        switch found {
        case .place(let place):
            write(place, gazetteer.placemark(of: place, using: transform).speaking(languages), into: &writer)
        case .area(let area): write(area, of: gazetteer, in: languages, using: transform, into: &writer)
        case .address(let address):
            write(address, gazetteer.placemark(of: address, using: transform).speaking(languages), into: &writer)
        }
    }

    /// The members that all forms share, from the thoroughfare to the time zones.
    private static func fields(of placemark: Placemark, into writer: inout JSONWriter) {
        writer.field("thoroughfare", placemark.thoroughfare)
        writer.field("subThoroughfare", placemark.subThoroughfare)
        writer.field("subLocality", placemark.subLocality)
        writer.field("locality", placemark.locality)
        writer.field("subAdministrativeArea", placemark.subAdministrativeArea)
        writer.field("administrativeArea", placemark.administrativeArea)
        writer.field("administrativeAreaCode", placemark.administrativeAreaCode)
        writer.field("postalCode", placemark.postalCode)
        writer.field("isoCountryCode", placemark.isoCountryCode?.description)
        writer.field("country", placemark.country)
        writer.field("inlandWater", placemark.inlandWater)
        writer.field("ocean", placemark.ocean)
        list("areasOfInterest", placemark.areasOfInterest, into: &writer)
        list("claimants", placemark.claimants.map(\.description), into: &writer)
        list("otherCountryCodes", placemark.otherCountryCodes.map(\.description), into: &writer)
        writer.field("timeZone", placemark.timeZone)
        list("otherTimeZones", placemark.otherTimeZones, into: &writer)
    }

    /// An empty list is left out.
    private static func list(_ name: String, _ values: [String], into writer: inout JSONWriter) {
        guard !values.isEmpty else { return }
        writer.array(name) { writer in for value in values { writer.value(value) } }
    }

    /// Rounded to millimeters, which is finer than any source.
    private static func distance(_ meters: Double?, into writer: inout JSONWriter) {
        writer.field("distance", meters.map { ($0 * 1000).rounded() / 1000 })
    }

    /// Degrees of WGS 84.
    private static func coordinate(of place: Place, into writer: inout JSONWriter) {
        writer.field("latitude", place.coordinate.latitude)
        writer.field("longitude", place.coordinate.longitude)
    }
}

extension FoundPlace.Match {
    /// How the search text matches the name: exactly, as its beginning, with typing errors, or without a known
    /// qualifier.
    fileprivate var word: String {
        switch self {
        case .exact: "exact"
        case .prefix: "prefix"
        case .misspelled: "misspelled"
        case .nameOnly: "nameOnly"
        }
    }
}
