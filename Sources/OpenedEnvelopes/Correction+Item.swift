import Geodesy
package import Replies
package import Whereabouts

extension Correction {
    /// A correction as the service shows it.
    ///
    /// - Throws: ``OpeningError/badCorrection`` for one that this version does not know, or without its members.
    package init(_ item: CorrectionItem) throws(OpeningError) {
        guard let correction = Self.read(item.content) else { throw .badCorrection }
        self = correction
    }

    private static func read(_ content: CorrectionContent) -> Correction? {
        switch Kind.allCases.first(where: { $0.word == content.type }) {
        case .merge: time(content).map { .merge($0) }
        case .notVisit: time(content).map { .notVisit($0) }
        case .split: content.moment.map { .split(at: Timestamp(milliseconds: $0.milliseconds)) }
        case .rename:
            if let place = content.place?.coordinate, let name = content.name { .rename(place, name) } else { nil }
        case .samePlace:
            if let place = content.place?.coordinate, let latitude = content.otherLatitude,
                let longitude = content.otherLongitude,
                let other = try? Coordinate(latitude: latitude, longitude: longitude)
            {
                .samePlace(place, with: other)
            } else {
                nil
            }
        case nil: nil
        }
    }

    private static func time(_ content: CorrectionContent) -> Range<Timestamp>? {
        guard let from = content.from, let to = content.to, from.milliseconds < to.milliseconds else { return nil }
        return Timestamp(milliseconds: from.milliseconds)..<Timestamp(milliseconds: to.milliseconds)
    }
}

extension MapPoint {
    /// The coordinate; `nil` in another reference system than WGS 84, and for degrees that cannot be.
    var coordinate: Coordinate? {
        guard case .degrees(let latitude, let longitude) = self else { return nil }
        return try? Coordinate(latitude: latitude, longitude: longitude)
    }
}
