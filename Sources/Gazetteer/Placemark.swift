import Geodesy

/// What is known of a coordinate, in the words of Core Location's `CLPlacemark`. What is unknown is absent.
///
/// Prints without its content, because it tells where somebody is.
package struct Placemark: Hashable, Sendable, DescribedWithoutContent {
    /// The country, its territorial sea included; absent on the high seas.
    package let isoCountryCode: CountryCode?
    /// The country's name in English, as GeoNames has it.
    package let country: String?
    /// The first-order division of that country, in its own or the English spelling.
    package let administrativeArea: String?
    /// Its code in ISO 3166-2, such as `AT-9`.
    package let administrativeAreaCode: String?
    /// The division of the division, where the source has it and not its region only: departments, provinces, counties.
    package let subAdministrativeArea: String?
    /// The city, town or village the coordinate is in or just outside of.
    package let locality: String?
    /// The part of it, where GeoNames lists that as a place of its own.
    package let subLocality: String?
    /// The sea or ocean, where the coordinate is on no land.
    package let ocean: String?
    /// The inland water the coordinate is in: the Caspian Sea, the only one the file has.
    package let inlandWater: String?
    /// Airports within 2 km of whose reference point the coordinate is, in the order of their IATA codes.
    package let areasOfInterest: [String]
    /// The name of the time zone in the IANA database, such as `Europe/Vienna`.
    package let timeZone: String?
    /// Other countries within the accuracy asked for, in alphabetical order.
    package let otherCountryCodes: [CountryCode]
    /// Other time zones within the accuracy asked for, in alphabetical order.
    package let otherTimeZones: [String]
    /// Of the eight places nearest by geodesic the first in the same country (anywhere, on the high seas), with its
    /// distance.
    package let nearestPlace: Place?

    /// The same with a place as its name and, unless the place is already its locality or the part of it, as its locality.
    ///
    /// Country and region are then the place's own, which it knows better than their coarse borders do.
    func naming(_ place: Place) -> Placemark {
        let isNamed = locality == place.name || subLocality == place.name
        let isOwn = place.administrativeAreaISOCode == nil || place.administrativeAreaISOCode == administrativeAreaCode
        return Placemark(
            isoCountryCode: CountryCode(place.countryCode), country: place.country,
            administrativeArea: isOwn ? administrativeArea : place.administrativeArea,
            administrativeAreaCode: isOwn ? administrativeAreaCode : place.administrativeAreaISOCode,
            subAdministrativeArea: isOwn ? subAdministrativeArea : nil,
            locality: isNamed ? locality : place.name, subLocality: isNamed ? subLocality : nil, ocean: nil,
            inlandWater: nil, areasOfInterest: [], timeZone: timeZone, otherCountryCodes: [], otherTimeZones: [],
            nearestPlace: place)
    }

    /// What a person would call the place in one word: the airport, the part of the city, the city, the lake, the
    /// region, the sea or the country, whichever of them comes first and is known.
    package var name: String? {
        areasOfInterest.first ?? subLocality ?? locality ?? inlandWater ?? ocean ?? administrativeArea ?? country
    }
}
