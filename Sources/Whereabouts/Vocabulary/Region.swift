package import Geodesy

/// An area a person wants to know entries to and exits from, as `CLRegion`.
package struct Region: Hashable, Sendable {
    /// The person's name for it, 1…64 characters, unique among the person's regions.
    package let identifier: String
    package let area: Area
    /// Whether entries are told. They are derived either way, so that exits stay right.
    package let notifyOnEntry: Bool
    package let notifyOnExit: Bool
    /// ``Waypoint/created`` of the waypoint it came from; `nil` for one that came from nowhere else.
    package let waypoint: Timestamp?

    package init(
        identifier: String, area: Area, notifyOnEntry: Bool = true, notifyOnExit: Bool = true,
        waypoint: Timestamp? = nil
    ) {
        (self.identifier, self.area, self.waypoint) = (identifier, area, waypoint)
        (self.notifyOnEntry, self.notifyOnExit) = (notifyOnEntry, notifyOnExit)
    }

    package init(identifier: String, circle: Circle) { self.init(identifier: identifier, area: .circle(circle)) }

    /// Whether a text can be a region's name: 1…64 characters that a path of HTTP can hold as one part.
    package static func isIdentifier(_ text: String) -> Bool {
        (1...Limits.regionNameCharacters).contains(text.unicodeScalars.count) && text != "." && text != ".."
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
    }

    /// Whether crossings of a kind are told.
    package func tells(_ kind: Crossing.Kind) -> Bool { kind == .enter ? notifyOnEntry : notifyOnExit }
}

/// The shape of a region.
package enum Area: Hashable, Sendable {
    case circle(Circle)
    case polygon(Polygon)

    /// Whether a place lies inside or on the edge.
    package func contains(_ coordinate: Coordinate) -> Bool {
        switch self {
        case .circle(let circle): circle.contains(coordinate)
        case .polygon(let polygon): polygon.contains(coordinate)
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
