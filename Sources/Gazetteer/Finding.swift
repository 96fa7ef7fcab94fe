import Geodesy

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
    /// The number of a place.
    var nearest: Int?
    var otherCountries: [CountryCode] = []
    var otherZones: [Int] = []
}
