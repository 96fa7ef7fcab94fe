import Geodesy
import Testing

@testable import Whereabouts
@testable import WhereaboutsTests

/// The fold's memory for a person.
@Suite struct HotStateTests {
    /// 16 KiB a person: ten thousand at once in 160 MiB.
    private static let most = 16 * 1024

    /// Only the points of the derivation grow.
    @Test(arguments: ["1 s", "10 s", "30 s, drifting", "adaptive, offline", "asked", "visits"])
    func `sixteen kibibytes hold what is kept of a person`(name: String) throws {
        let phone = try #require(Phone.all.first { $0.name == name })
        let transform = GeocentricTransform()
        let days = try HistoryTests.days(2)
        var derivation = VisitDerivation(regions: [], .newest, transform)
        var largest = 0
        for (index, fix) in phone.fixes(of: days, seed: 5).sorted(by: { $0.timestamp < $1.timestamp }).enumerated() {
            let stored = StoredFix(
                device: MemoryTimeline.device, timestamp: fix.timestamp, coordinate: fix.coordinate,
                horizontalAccuracy: fix.horizontalAccuracy, receivedAt: nil)
            guard let point = TrackPoint(stored, transform),
                derivation.isNext(point, of: stored.device)
            else { continue }
            derivation.add(point, of: stored.device)
            derivation.takeOutput()
            if index % 16 == 0 { largest = max(largest, derivation.heldBytes) }
        }
        #expect(largest > 1024)
        #expect(largest <= Self.most)
    }
}

extension VisitDerivation {
    /// Bytes of itself and of the points it holds.
    fileprivate var heldBytes: Int {
        MemoryLayout<VisitDerivation>.size + Self.points(in: self) * MemoryLayout<TrackPoint>.stride
    }

    private static func points(in value: Any) -> Int {
        if let points = value as? [TrackPoint] { return points.count }
        return Mirror(reflecting: value).children.reduce(0) { $0 + points(in: $1.value) }
    }
}
