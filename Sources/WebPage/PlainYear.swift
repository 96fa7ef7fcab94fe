import Answers
import JSON

/// The year of a person as plain tables: months, countries, cities, and ways of travel. They are computed from the
/// summaries of its days and the visited places, so they agree with the API.
struct PlainYear {
    /// Days, seconds and visits of an area, or the sums of a month.
    struct Sum {
        var days: Set<String> = []
        var seconds = 0.0
        var visits: Int64 = 0
        var meters = 0.0
        var moving = 0.0
        var unknown = 0.0
        var trips: Int64 = 0
    }

    private(set) var days: [String: Sum] = [:]
    private var months: [String: Sum] = [:]
    private var countries: [String: Sum] = [:]
    private var cities: [String: Sum] = [:]
    private var modes: [String: Sum] = [:]

    /// Whether these are the answers of a year that was read without a problem.
    static func isShown(at path: String, _ answered: [PlainViews.Answered]) -> Bool {
        guard path == "/year" || path.hasPrefix("/year/"), !answered.isEmpty else { return false }
        return answered.allSatisfy { if case .success = $0.result { $0.section.title != "people" } else { false } }
    }

    /// - Parameters:
    ///   - answered: The summaries by day, and the places of the year last.
    ///   - marks: Gives the placemarks of places, by their ids.
    init(_ answered: [PlainViews.Answered], marks: ([JSONValue]) -> [String: JSONValue]) {
        let rows = answered.map { (try? $0.result.get().items) ?? [] }
        let marks = marks(rows.last ?? [])
        // Where two quarters meet in a local day, both have a part of it.
        for day in rows.dropLast().joined() {
            let period = day["period"]?.string ?? ""
            let stayed = day["staySeconds"]?.double ?? 0
            let moving = day["moveSeconds"]?.double ?? 0
            let isLived = stayed + moving > 0
            Self.add(to: &days, period) { sum in
                if isLived { sum.days.insert(period) }
                sum.visits += day["visits"]?.int ?? 0
                sum.meters += day["distanceMeters"]?.double ?? 0
            }
            Self.add(to: &months, String(period.prefix(7))) { sum in
                if isLived { sum.days.insert(period) }
                sum.visits += day["visits"]?.int ?? 0
                sum.meters += day["distanceMeters"]?.double ?? 0
                sum.moving += moving
                sum.unknown += day["unknownSeconds"]?.double ?? 0
            }
            for place in day["places"]?.array.map(Array.init) ?? [] {
                let mark = place["id"]?.string.flatMap { marks[$0] }
                let seconds = place["seconds"]?.double ?? 0
                func stay(_ sum: inout Sum) {
                    sum.days.insert(period)
                    sum.seconds += seconds
                }
                if let country = mark?["country"]?.string { Self.add(to: &countries, country, stay) }
                let city = mark?["locality"]?.string ?? mark?["name"]?.string
                if let city { Self.add(to: &cities, city, stay) }
            }
            for way in day["modes"]?.array.map(Array.init) ?? [] {
                Self.add(to: &modes, way["mode"]?.string ?? "") { sum in
                    sum.meters += way["distanceMeters"]?.double ?? 0
                    sum.seconds += way["seconds"]?.double ?? 0
                    sum.trips += way["trips"]?.int ?? 0
                }
            }
        }
    }

    private static func add(to sums: inout [String: Sum], _ name: String, _ change: (inout Sum) -> Void) {
        change(&sums[name, default: Sum()])
    }

    /// The tables. Months without data are left out.
    var tables: [PlainViews.Answered] {
        let lived = months.filter { !$0.value.days.isEmpty }.sorted { $0.key < $1.key }
        return [
            Self.table("year", lived, Self.ofMonths), Self.table("countries", Self.sorted(countries), Self.ofAreas),
            Self.table("cities", Self.sorted(cities), Self.ofAreas),
            Self.table("modes", modes.sorted { $0.value.meters > $1.value.meters }, Self.ofModes),
        ]
    }

    /// The areas with the most days first.
    private static func sorted(_ areas: [String: Sum]) -> [(key: String, value: Sum)] {
        areas.sorted { a, b in
            (b.value.days.count, b.value.seconds, a.key) < (a.value.days.count, a.value.seconds, b.key)
        }
    }

    /// A section whose rows are written here instead of read.
    private static func table(
        _ title: String, _ rows: [(key: String, value: Sum)], _ columns: [PlainSection.Column]
    ) -> PlainViews.Answered {
        var writer = JSONWriter()
        writer.beginArray()
        for (name, sum) in rows {
            writer.beginObject()
            writer.field("name", name)
            writer.field("days", Int64(sum.days.count))
            writer.field("visits", sum.visits)
            writer.field("trips", sum.trips)
            for (key, value) in [
                ("seconds", sum.seconds), ("meters", sum.meters), ("moving", sum.moving), ("unknown", sum.unknown),
            ] {
                writer.key(key)
                writer.value(value)
            }
            writer.endObject()
        }
        writer.endArray()
        let items = (try? JSONDocument.parse(writer.bytes))?.root.array.map(Array.init) ?? []
        return PlainViews.Answered(
            section: PlainSection(title: title, path: "", columns: columns),
            result: .success(PlainViews.Rows(items: items)))
    }

    private static let ofMonths: [PlainSection.Column] = [
        .init("period", "name"), .init("days"), .init("visits"), .init("distance", "meters", .meters),
        .init("moving", "moving", .duration), .init("unknown", "unknown", .duration),
    ]
    private static let ofAreas: [PlainSection.Column] = [
        .init("name"), .init("days"), .init("stayed", "seconds", .duration),
    ]
    private static let ofModes: [PlainSection.Column] = [
        .init("mode", "name", .word("year.by")), .init("distance", "meters", .meters), .init("trips"),
        .init("duration", "seconds", .duration),
    ]
}
