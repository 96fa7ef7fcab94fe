package import Geodesy

/// A street, a house or a postal code of a supplement, by its number there.
enum AddressFinding: Hashable, Sendable {
    /// `house` is nil where the number is not known.
    case street(supplement: Int, street: Int, house: Int?)
    /// A record of a postal code.
    case postalCode(supplement: Int, record: Int)
    /// A place that was asked for by its name.
    case spot(Spot)
}

/// A place of a supplement, by its number there.
struct Spot: Hashable, Sendable {
    let supplement: Int
    let number: Int
}

/// An address, a postal code or a place of a supplement, found by its text. Prints without its content.
package struct FoundAddress: Hashable, Sendable, DescribedWithoutContent {
    let finding: AddressFinding
    /// The house; of a street without one its middle house; of a postal code where GeoNames puts it.
    package let coordinate: Coordinate
    /// Whether less is known than was asked: the street, and not the house number.
    package let isPartial: Bool
    /// The number of a place in GeoNames.
    package var geonameID: Int?
}

/// A possible meaning of a text.
package enum Found: Hashable, Sendable {
    case place(FoundPlace)
    case address(FoundAddress)
    case area(FoundArea)
}
