import Geodesy
package import Replies
package import Whereabouts

extension Region {
    /// A region as the service shows it.
    ///
    /// - Throws: ``OpeningError/badRegion(_:)`` for a shape that cannot be used, for example one in another reference
    ///   system than WGS 84.
    package init(_ item: RegionItem) throws(OpeningError) {
        guard let area = Self.area(item.area) else { throw .badRegion(item.id) }
        self.init(
            identifier: item.id, area: area, notifyOnEntry: item.area.notifyOnEntry ?? true,
            notifyOnExit: item.area.notifyOnExit ?? true)
    }

    private static func area(_ item: RegionAreaItem) -> Area? {
        if let circle = item.circle {
            return circle.at.coordinate.flatMap { try? Circle(center: $0, radiusMeters: circle.radiusMeters) }
                .map { .circle($0) }
        }
        guard let ring = item.polygon?.ring else { return nil }
        let vertices = ring.compactMap(\.coordinate)
        guard vertices.count == ring.count else { return nil }
        return (try? Polygon(vertices: vertices)).map { .polygon($0) }
    }
}
