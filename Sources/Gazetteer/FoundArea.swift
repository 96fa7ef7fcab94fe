package import Geodesy

/// A country, a first-order division, an airport or a water found by its name. Prints without its content.
package struct FoundArea: Hashable, Sendable, DescribedWithoutContent {
    /// What it is. The raw values are those of the file.
    package enum Kind: Int, Sendable { case country, administrativeArea, airport, water }

    package let kind: Kind
    /// In English; `Gazetteer.name(of:in:using:)` says it in other languages.
    package let name: String
    /// A place near the middle of a country or division; the reference point of an airport; a point of a water.
    package let coordinate: Coordinate
    /// Inhabitants of a country or division; 0 where they are not known.
    package let population: Int
    package let match: FoundPlace.Match
    /// The better, the sooner in a list, as ``FoundPlace/score``.
    package let score: Double
    /// Of the country or the area in the file of places.
    let number: Int
}

extension Gazetteer {
    /// The country of a found area, where it is one or in one.
    package func country(of found: FoundArea) -> CountryCode? {
        switch found.kind {
        case .country: countryCode(numbered: found.number)
        case .administrativeArea: country(ofArea: found.number).flatMap(countryCode(numbered:))
        case .airport, .water: country(at: found.coordinate)
        }
    }

    /// The name of the country of a found area, in the first of some languages that has one, else its local name.
    package func countryName(of found: FoundArea, in languages: [Language]) -> String? {
        country(of: found).flatMap { translation(of: .country($0), in: languages) ?? name(of: $0) }
    }

    /// What a found area is called, in the first of some languages that has a name, else locally.
    package func name(of found: FoundArea, in languages: [Language], using transform: GeocentricTransform) -> String {
        switch found.kind {
        case .country: countryName(of: found, in: languages) ?? found.name
        case .administrativeArea: divisionName(of: found, in: languages, using: transform) ?? found.name
        case .airport, .water: found.name
        }
    }

    /// The code in ISO 3166-2 of a found division; nil for what is none.
    package func administrativeAreaCode(of found: FoundArea) -> String? {
        found.kind == .administrativeArea ? isoCode(ofArea: found.number) : nil
    }

    /// More languages name the outline that holds its middle than the area itself.
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
