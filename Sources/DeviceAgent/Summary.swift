internal import CoreLocation
internal import JSON
internal import Synchronization

/// A played world in numbers.
struct Summary {
    let phones: Int
    let reported, retried, refused, pushes, killed: Int
    let asked: [World.Asked]
    /// Of all phones together.
    let radioUse: [SimulatedService: SimulatedRadioUse]

    var unexpected: Int { asked.count { !$0.isExpected } }
    /// How many questions came to each end.
    var ends: [(end: String, count: Int)] {
        Dictionary(grouping: asked, by: \.end).map { ($0.key, $0.value.count) }.sorted { $0.0 < $1.0 }
    }

    /// The simulated seconds within which this part of the answers came; `nil` when there were none.
    func seconds(within part: Double) -> Double? {
        let sorted = asked.filter { $0.end.hasPrefix("answered") }.map(\.seconds).sorted()
        return sorted.isEmpty ? nil : sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }
}

/// Counts the lines of a diary by their event.
final class Tally: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func take(_ line: [UInt8]) {
        guard let event = try? JSONDocument.parse(line).root["event"]?.string else { return }
        counts.withLock { $0[event, default: 0] += 1 }
    }

    func count(_ event: String) -> Int { counts.withLock { $0[event] ?? 0 } }
}
