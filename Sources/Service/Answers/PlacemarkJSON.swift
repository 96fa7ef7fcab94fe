package import Gazetteer
import Geodesy
package import JSON

/// Placemarks as answers have them, with the keys of `CLPlacemark`. What the gazetteer does not know is absent.
package enum PlacemarkJSON {
    /// What is known of a coordinate; `latitude`, `longitude`, `distance` (meters) and `geonameId` are those of the
    /// nearest populated place.
    package static func write(_ placemark: Placemark, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("name", placemark.name)
        fields(of: placemark, into: &writer)
        if let place = placemark.nearestPlace {
            coordinate(of: place, into: &writer)
            // A millimeter is less than anything the source knows.
            writer.field("distance", (place.distanceMeters * 1000).rounded() / 1000)
            writer.field("geonameId", place.geonameID)
        }
        writer.endObject()
    }

    /// A place found by name: where it is, and as what the name was understood.
    package static func write(_ found: FoundPlace, _ placemark: Placemark, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("name", placemark.nameOfFoundPlace)
        fields(of: placemark, into: &writer)
        coordinate(of: found.place, into: &writer)
        writer.field("geonameId", found.place.geonameID)
        writer.field("population", found.place.population == 0 ? nil : found.place.population)
        writer.field("match", found.match.word)
        writer.endObject()
    }

    private static func fields(of placemark: Placemark, into writer: inout JSONWriter) {
        writer.field("subLocality", placemark.subLocality)
        writer.field("locality", placemark.locality)
        writer.field("subAdministrativeArea", placemark.subAdministrativeArea)
        writer.field("administrativeArea", placemark.administrativeArea)
        writer.field("administrativeAreaCode", placemark.administrativeAreaCode)
        writer.field("isoCountryCode", placemark.isoCountryCode?.description)
        writer.field("country", placemark.country)
        writer.field("inlandWater", placemark.inlandWater)
        writer.field("ocean", placemark.ocean)
        if !placemark.areasOfInterest.isEmpty {
            writer.array("areasOfInterest") { writer in for area in placemark.areasOfInterest { writer.value(area) } }
        }
        if !placemark.claimants.isEmpty {
            writer.array("claimants") { writer in for code in placemark.claimants { writer.value(code.description) } }
        }
        writer.field("timeZone", placemark.timeZone)
    }

    private static func coordinate(of place: Place, into writer: inout JSONWriter) {
        writer.field("latitude", place.coordinate.latitude)
        writer.field("longitude", place.coordinate.longitude)
    }
}

extension FoundPlace.Match {
    fileprivate var word: String {
        switch self {
        case .exact: "exact"
        case .prefix: "prefix"
        case .misspelled: "misspelled"
        }
    }
}
