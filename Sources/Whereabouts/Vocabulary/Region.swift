package import Geodesy

/// An area for which a person wants to know entries and exits, as in `CLRegion`.
package struct Region: Hashable, Sendable {
    /// The person's name for it: 1 to 64 characters, unique among the person's regions.
    package let identifier: String
    /// The shape.
    package let area: Area
    /// Whether entries are reported. They are derived in any case, so that exits are right.
    package let notifyOnEntry: Bool
    /// Whether exits are reported.
    package let notifyOnExit: Bool
    /// The ``Waypoint/created`` of the waypoint that made the region; `nil` for other regions.
    package let waypoint: Timestamp?

    package init(
        identifier: String, area: Area, notifyOnEntry: Bool = true, notifyOnExit: Bool = true,
        waypoint: Timestamp? = nil
    ) {
        (self.identifier, self.area, self.waypoint) = (identifier, area, waypoint)
        (self.notifyOnEntry, self.notifyOnExit) = (notifyOnEntry, notifyOnExit)
    }

    /// A circular region that reports entries and exits.
    package init(identifier: String, circle: Circle) { self.init(identifier: identifier, area: .circle(circle)) }

    /// Whether a text can be a region's name: 1 to 64 characters that can be one part of a URL's path.
    package static func isIdentifier(_ text: String) -> Bool {
        (1...Limits.regionNameCharacters).contains(text.unicodeScalars.count) && text != "." && text != ".."
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
    }
}

/// The shape of a region.
package enum Area: Hashable, Sendable {
    case circle(Circle)
    case polygon(Polygon)

    /// Whether a place is inside or on the edge.
    package func contains(_ coordinate: Coordinate) -> Bool {
        switch self {
        case .circle(let circle): circle.contains(coordinate)
        case .polygon(let polygon): polygon.contains(coordinate)
        }
    }

    /// A place of the shape: the center of a circle, or a polygon's first corner.
    package var anchor: Coordinate {
        switch self {
        case .circle(let circle): circle.center
        case .polygon(let polygon): polygon.vertices[0]
        }
    }

    /// Meters from the edge, negative inside.
    package func signedDistanceMeters(to coordinate: Coordinate) -> Double {
        switch self {
        case .circle(let circle): circle.signedDistanceMeters(to: coordinate)
        case .polygon(let polygon): polygon.signedDistanceMeters(to: coordinate)
        }
    }
}
