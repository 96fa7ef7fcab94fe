/// A place on earth in an answer.
package enum MapPoint: Hashable, Sendable {
    /// WGS 84, the members `latitude` and `longitude`.
    case degrees(latitude: Double, longitude: Double)
    /// In the reference system that the request named, the members `x` and `y`: the easting or longitude comes first.
    case planar(x: Double, y: Double)
    /// Outside the area of that system: `x` and `y` are null.
    case outside

    static var invented: MapPoint { .outside }
}

/// The geometry of an item on a map.
package enum MapShape: Hashable, Sendable {
    case point(MapPoint)
    case line([MapPoint])
    /// A ring, which repeats its first point at the end.
    case polygon([MapPoint])

    /// The points in their order.
    package var points: [MapPoint] {
        switch self {
        case .point(let point): [point]
        case .line(let points), .polygon(let points): points
        }
    }
}
