import Geodesy

/// The files' entries for a coordinate, by number, so that many can be found quickly and named later.
///
/// Small, because a million of them are kept and copied.
struct Finding: Hashable, Sendable {
    let coordinate: Coordinate
    /// In ``Zones``.
    @SmallNumber var zone: Int? = nil
    var country: CountryCode?
    /// Of the regions: the division and the lake the coordinate is in.
    @SmallNumber var region: Int? = nil
    @SmallNumber var lake: Int? = nil
    /// Of the waters.
    @SmallNumber var sea: Int? = nil
    @SmallNumber var inlandSea: Int? = nil
    var locality = LocalityRule.Answer()
    /// The number of the nearest place of the country that governs; on the high seas it is looked for when it is asked
    /// for.
    @SmallNumber var nearest: Int? = nil
    private var rest = Rest.nothing

    init(coordinate: Coordinate) { self.coordinate = coordinate }

    /// The entries that exist only at few coordinates.
    struct Besides: Hashable {
        /// The claimants of the contested land the coordinate is in.
        var claimants: [CountryCode] = []
        /// Numbers of airports.
        var airports: [Int] = []
        /// Where the nearest place is looked for on the high seas: far out it costs as much as all the rest to find.
        var highSeas: GeocentricPoint?
        var otherCountries: [CountryCode] = []
        var otherZones: [Int] = []
        /// Of supplements.
        var address: AddressFinding?
        var village: Spot?
        var sights: [Spot] = []
    }

    /// A pointer to copy instead of the content.
    private indirect enum Rest: Hashable {
        case nothing
        case besides(Besides)
    }

    var besides: Besides {
        get { if case .besides(let besides) = rest { besides } else { Besides() } }
        set { rest = newValue == Besides() ? .nothing : .besides(newValue) }
    }
}

/// A number below 2^31, or none, in four bytes.
@propertyWrapper
struct SmallNumber: Hashable, Sendable {
    private var stored: Int32 = -1

    init(wrappedValue: Int?) { self.wrappedValue = wrappedValue }

    var wrappedValue: Int? {
        get { stored < 0 ? nil : Int(stored) }
        set { stored = newValue.map { Int32($0) } ?? -1 }
    }
}
