package import Gazetteer
package import Geodesy
package import Replies
import WireFormats

// Placemarks in answers. A value that the gazetteer does not have is absent.

extension PlacemarkItem {
    /// The placemark of a coordinate. Its coordinate, `distance` (meters) and `geonameId` are those of the nearest
    /// populated place, even if `name` is an address.
    package init(_ placemark: Placemark) {
        self.init(namesOf: placemark, placemark.name)
        if let place = placemark.nearestPlace {
            at = MapPoint(place.coordinate)
            distance = Self.millimeters(place.distanceMeters)
            geonameId = Int64(place.geonameID)
        }
    }

    /// The placemark of a person's location, without the coordinate and id of the nearest place.
    package init(ofPerson placemark: Placemark) {
        self.init(namesOf: placemark, placemark.name)
        countryCode = isoCountryCode
        distance = Self.millimeters(placemark.distanceMeters)
    }

    /// One result of a search: a place, an area or an address, with `match` for how its name fits.
    package init(
        _ found: Found, of gazetteer: Gazetteer, in languages: [Language], using transform: GeocentricTransform
    ) {
        switch found {
        case .place(let place):
            self.init(place, gazetteer.placemark(of: place, using: transform).speaking(languages))
        case .area(let area): self.init(area, of: gazetteer, in: languages, using: transform)
        case .address(let address):
            self.init(address, gazetteer.placemark(of: address, using: transform).speaking(languages))
        }
    }

    /// A place found by name: its placemark, and the type that the name was found as.
    private init(_ found: FoundPlace, _ placemark: Placemark) {
        self.init(namesOf: placemark, placemark.nameOfFoundPlace)
        at = MapPoint(found.place.coordinate)
        geonameId = Int64(found.place.geonameID)
        population = found.place.population == 0 ? nil : Int64(found.place.population)
        match = found.match.word
    }

    /// An address, postal code or place of a supplement found by its text, and whether all words of the text matched.
    private init(_ found: FoundAddress, _ placemark: Placemark) {
        self.init(namesOf: placemark, placemark.name)
        at = MapPoint(found.coordinate)
        geonameId = found.geonameID.map { Int64($0) }
        match = found.isPartial ? "partial" : "exact"
    }

    /// A country, division, airport or water found by name.
    private init(
        _ found: FoundArea, of gazetteer: Gazetteer, in languages: [Language], using transform: GeocentricTransform
    ) {
        let name = gazetteer.name(of: found, in: languages, using: transform)
        switch found.kind {
        case .country, .administrativeArea:
            self.init(
                name: name, administrativeArea: found.kind == .administrativeArea ? name : nil,
                administrativeAreaCode: gazetteer.administrativeAreaCode(of: found),
                isoCountryCode: gazetteer.country(of: found)?.description,
                country: gazetteer.countryName(of: found, in: languages))
        case .airport, .water:
            self.init(
                namesOf: gazetteer.placemark(at: found.coordinate, using: transform).speaking(languages), name)
        }
        at = MapPoint(found.coordinate)
        population = found.population == 0 ? nil : Int64(found.population)
        match = found.match.word
    }

    /// The members that all forms share: the name, and those from the thoroughfare to the time zones.
    private init(namesOf placemark: Placemark, _ name: String?) {
        self.init(
            name: name, thoroughfare: placemark.thoroughfare, subThoroughfare: placemark.subThoroughfare,
            subLocality: placemark.subLocality, locality: placemark.locality,
            subAdministrativeArea: placemark.subAdministrativeArea, administrativeArea: placemark.administrativeArea,
            administrativeAreaCode: placemark.administrativeAreaCode, postalCode: placemark.postalCode,
            isoCountryCode: placemark.isoCountryCode?.description, country: placemark.country,
            inlandWater: placemark.inlandWater, ocean: placemark.ocean,
            areasOfInterest: Self.list(placemark.areasOfInterest),
            claimants: Self.list(placemark.claimants.map(\.description)),
            otherCountryCodes: Self.list(placemark.otherCountryCodes.map(\.description)),
            timeZone: placemark.timeZone, otherTimeZones: Self.list(placemark.otherTimeZones))
    }

    /// An empty list is left out.
    private static func list(_ values: [String]) -> [String]? { values.isEmpty ? nil : values }

    /// Rounded to millimeters, which is finer than any source.
    private static func millimeters(_ meters: Double?) -> Double? { meters.map { ($0 * 1000).rounded() / 1000 } }
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
