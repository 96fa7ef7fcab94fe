package import Geodesy

/// A populated place, with how far it is from the coordinate asked about.
///
/// A fact that GeoNames does not have is absent, never guessed. Prints without its content, because the place nearest
/// to a person reveals where they are.
package struct Place: Hashable, Sendable, DescribedWithoutContent {
    /// The main name in GeoNames: a widely used or local one, in Latin script mostly. Not unique.
    package let name: String
    /// ISO 3166-1 alpha-2, as GeoNames uses it (`XK` is Kosovo).
    package let countryCode: String
    /// The country's name in English.
    package let country: String
    /// GeoNames' code of the first-order division within the country, such as `CA` or `09`: the postal code in the
    /// United States, elsewhere mostly FIPS 10-4, not ISO 3166-2. Absent for places that belong to none.
    package let administrativeAreaCode: String?
    /// The name of that division: as ``Placemark/administrativeArea`` has it, else GeoNames' own.
    package let administrativeArea: String?
    /// Its code in ISO 3166-2, where GeoNames' division is one of those.
    package let administrativeAreaISOCode: String?
    /// The number of its area in `places.gazetteer`: a division within one time zone.
    let areaNumber: Int
    /// The name of its time zone in the IANA database, such as `Europe/Vienna`.
    package let timeZone: String
    /// Where GeoNames puts the place: a point, usually in its middle.
    package let coordinate: Coordinate
    /// Inhabitants; 0 where GeoNames does not know.
    package let population: Int
    /// The number of the place in GeoNames, stable over releases.
    package let geonameID: Int
    /// Meters from the coordinate asked about, along the geodesic (`Geodesic.distanceMeters(from:to:)`).
    package let distanceMeters: Double
}
