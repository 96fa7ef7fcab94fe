package import Geodesy

/// A country, first-order division, airport or body of water found by its name. Prints without its content.
package struct FoundArea: Hashable, Sendable, DescribedWithoutContent {
    /// The kind of area. The raw values are those of `names.gazetteer`.
    package enum Kind: Int, Sendable { case country, administrativeArea, airport, water }

    package let kind: Kind
    /// The English name; `Gazetteer.name(of:in:using:)` gives it in other languages.
    package let name: String
    /// A place near the middle of a country or division, the reference point of an airport, or a point on the water.
    package let coordinate: Coordinate
    /// Inhabitants of a country or division; 0 if their number is unknown, and for airports and waters.
    package let population: Int
    package let match: FoundPlace.Match
    /// The rank among the results, comparable with ``FoundPlace/score``: a higher score comes first.
    package let score: Double
    /// The number of the country or area in `places.gazetteer`.
    let number: Int
}

extension Gazetteer {
    /// The country that a found area is or is in; nil if it is in none.
    package func country(of found: FoundArea) -> CountryCode? {
        switch found.kind {
        case .country: countryCode(numbered: found.number)
        case .administrativeArea: country(ofArea: found.number).flatMap(countryCode(numbered:))
        case .airport, .water: country(at: found.coordinate)
        }
    }

    /// The name of the country of a found area, in the first of `languages` that has one, else in the country's own.
    package func countryName(of found: FoundArea, in languages: [Language]) -> String? {
        country(of: found).flatMap { translation(of: .country($0), in: languages) ?? name(of: $0) }
    }

    /// The name of a found area, in the first of `languages` that has one, else the local one.
    package func name(of found: FoundArea, in languages: [Language], using transform: GeocentricTransform) -> String {
        switch found.kind {
        case .country: countryName(of: found, in: languages) ?? found.name
        case .administrativeArea: divisionName(of: found, in: languages, using: transform) ?? found.name
        case .airport, .water: found.name
        }
    }

    /// The ISO 3166-2 code of a found division, for example `AT-9`; nil if the result is not a division or has no code.
    package func administrativeAreaCode(of found: FoundArea) -> String? {
        found.kind == .administrativeArea ? isoCode(ofArea: found.number) : nil
    }

    /// The name of a division. The outline around its middle is asked first, because it has names in more languages than
    /// the area does.
    private func divisionName(
        of found: FoundArea, in languages: [Language], using transform: GeocentricTransform
    ) -> String? {
        let placemark = placemark(at: found.coordinate, using: transform).speaking(languages)
        if let code = isoCode(ofArea: found.number), placemark.administrativeAreaCode == code {
            return placemark.administrativeArea
        }
        return name(ofArea: found.number, in: languages)
    }
}
