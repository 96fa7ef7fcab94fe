import Geodesy

/// The nearest place of a country, given by number, or of all countries, where none is near: far out it costs as much as
/// all the rest to find.
struct FarPlace: Hashable {
    let point: GeocentricPoint
    let country: Int?
}

/// What the files say of a coordinate, in their own numbers, so that many can be found quickly and named later.
struct Finding: Hashable, Sendable {
    let coordinate: Coordinate
    /// In ``Zones``.
    var zone: Int?
    var country: CountryCode?
    /// Of the regions: the division, the lake, and the contested land the coordinate is in.
    var region: Int?
    var lake: Int?
    var claimants: [CountryCode] = []
    /// Of the waters.
    var sea: Int?
    var inlandSea: Int?
    var locality = LocalityRule.Answer()
    /// Numbers of airports.
    var airports: [Int] = []
    /// The number of the nearest place, if one is near.
    var nearest: Int?
    /// Else what it is looked for by, when it is asked for; nil if the country has none.
    var far: FarPlace?
    var otherCountries: [CountryCode] = []
    var otherZones: [Int] = []
    /// Of supplements.
    var address: AddressFinding?
    var village: Spot?
    var sights: [Spot] = []
}
