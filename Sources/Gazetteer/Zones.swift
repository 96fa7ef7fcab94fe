package import Geodesy

/// The world's time zones with their countries: every coordinate is in exactly one.
///
/// The borders are OpenStreetMap's, simplified by up to 25 m. A country reaches as far as its territorial sea; beyond
/// lie the nautical zones `Etc/…`, which have none. Where the sources' zones overlap (Asia/Urumqi and Asia/Shanghai,
/// Asia/Hebron and Asia/Jerusalem) the one smaller in area answers.
package final class Zones: Sendable {
    private let tiling: Tiling

    /// Maps `zones.gazetteer`; see ``GazetteerError`` for the refused files.
    package init(path: String) throws(GazetteerError) {
        tiling = try Tiling(path: path)
        guard tiling.labelCount > 0 else { throw .damaged(path: path, reason: "it holds no zone") }
    }

    /// The attribution and licence of the data, to be shown wherever countries or time zones are shown.
    package var attribution: String { tiling.attribution }

    /// How many zones there are; numbers are below.
    package var count: Int { tiling.labelCount }

    /// The number of the zone at a coordinate: the fastest answer, 20 to 60 ns. nil only if the file is damaged.
    package func number(at coordinate: Coordinate) -> Int? { number(at: TilingPoint(coordinate)) }

    func number(at point: TilingPoint) -> Int? { tiling.label(at: point) }

    /// The numbers of the zones at many coordinates, in order.
    package func numbers(at coordinates: [Coordinate]) -> [Int?] { coordinates.map { number(at: $0) } }

    /// The name of a zone in the IANA database, such as `Europe/Vienna`. nil only if the file is damaged.
    package func timeZone(_ number: Int) -> String? {
        precondition(number >= 0 && number < count, "A zone's number is below the count.")
        return tiling.name(number)
    }

    /// The country of a zone; nil for the nautical zones of the high seas.
    package func country(_ number: Int) -> CountryCode? {
        precondition(number >= 0 && number < count, "A zone's number is below the count.")
        return tiling.country(number)
    }
}
