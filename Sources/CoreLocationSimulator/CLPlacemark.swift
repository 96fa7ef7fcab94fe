public import Foundation
internal import Gazetteer

/// The names of a place. An unknown one is `nil`: streets, house numbers and postal codes are unknown unless the
/// gazetteer's operator has imported them. `postalAddress` is left out with them: its type is the Contacts framework's,
/// which Linux does not have.
public final class CLPlacemark: NSObject, Sendable {
    public let location: CLLocation?
    /// The usual short name of the place.
    public let name: String?
    public let thoroughfare: String?
    public let subThoroughfare: String?
    public let postalCode: String?
    public let locality: String?
    public let subLocality: String?
    public let administrativeArea: String?
    public let subAdministrativeArea: String?
    public let isoCountryCode: String?
    public let country: String?
    public let inlandWater: String?
    public let ocean: String?
    public let areasOfInterest: [String]?
    public let timeZone: TimeZone?

    public var region: CLRegion? { nil }

    init(_ placemark: Placemark, at location: CLLocation) {
        self.location = location
        name = placemark.name
        thoroughfare = placemark.thoroughfare
        subThoroughfare = placemark.subThoroughfare
        postalCode = placemark.postalCode
        locality = placemark.locality
        subLocality = placemark.subLocality
        administrativeArea = placemark.administrativeArea
        subAdministrativeArea = placemark.subAdministrativeArea
        isoCountryCode = placemark.isoCountryCode?.description
        country = placemark.country
        inlandWater = placemark.inlandWater
        ocean = placemark.ocean
        areasOfInterest = placemark.areasOfInterest.isEmpty ? nil : placemark.areasOfInterest
        timeZone = placemark.timeZone.flatMap { TimeZone(identifier: $0) }
    }

    /// Says nothing of the place: descriptions end in diagnostics.
    public override var description: String { "CLPlacemark(…)" }
}
