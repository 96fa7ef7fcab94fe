import Geodesy
import Whereabouts

enum AnyRegion {
    static var home: Region {
        guard let center = try? Coordinate(latitude: 52.5, longitude: 13.4),
            let circle = try? Circle(center: center, radiusMeters: 150)
        else { preconditionFailure() }
        return Region(identifier: "home", circle: circle)
    }
}
