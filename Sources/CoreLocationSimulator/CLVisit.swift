public import Foundation

/// A stay at a place, reported on arrival, on departure, or on both.
public final class CLVisit: NSObject, Sendable {
    /// `Date.distantPast` when the arrival was not observed.
    public let arrivalDate: Date
    /// `Date.distantFuture` while the stay goes on.
    public let departureDate: Date
    public let coordinate: CLLocationCoordinate2D
    /// Meters.
    public let horizontalAccuracy: CLLocationAccuracy

    init(arrival: Date?, departure: Date?, coordinate: CLLocationCoordinate2D, horizontalAccuracy: Double) {
        arrivalDate = arrival ?? .distantPast
        departureDate = departure ?? .distantFuture
        self.coordinate = coordinate
        self.horizontalAccuracy = horizontalAccuracy
    }

    /// Says nothing of the place: descriptions end in diagnostics.
    public override var description: String { "CLVisit(…)" }
}
