package import Geodesy

/// An area a person wants to know entries to and exits from, as `CLCircularRegion`.
package struct Region: Hashable, Sendable {
    /// The person's name for it, 1…64 characters, unique among the person's regions.
    package let identifier: String
    package let circle: Circle

    package init(identifier: String, circle: Circle) {
        self.identifier = identifier
        self.circle = circle
    }
}
