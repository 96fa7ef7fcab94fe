import Gazetteer
import Geodesy
import Glibc
import JSON
import Threading

/// The gazetteer's answers per second, and the time and memory until the first one.
struct GazetteerBench {
    private let path: String
    private let count: Int

    init(_ options: Options) throws {
        path = try options.text("data")
        count = try options.number("points", default: 1_000_000)
    }

    /// SplitMix64 (Steele, Lea and Flood 2014): the same points in every run.
    private struct Chance: RandomNumberGenerator {
        var state: UInt64 = 5

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var z = state
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }

        /// Uniform on the sphere.
        mutating func coordinate() throws -> Coordinate {
            try Coordinate(
                latitude: asin(Double.random(in: -1...1, using: &self)) * 180 / .pi,
                longitude: Double.random(in: -180...180, using: &self))
        }
    }

    func run() throws {
        let residentBefore = Self.residentBytes()
        let began = nanoseconds()
        let gazetteer = try Gazetteer(path: path)
        let transform = GeocentricTransform()
        let vienna = try Coordinate(latitude: 48.2085, longitude: 16.3721)
        guard gazetteer.placemark(at: vienna, using: transform).locality == "Wien" else { throw UsageError() }
        let first = nanoseconds() - began
        let firstResident = Self.residentBytes()
        // Before the points of this program take memory.
        var chance = Chance()
        for _ in 0..<1_000_000 {
            let placemark = gazetteer.placemark(at: try chance.coordinate(), using: transform)
            if placemark.timeZone == nil { throw UsageError() }
        }
        let millionResident = Self.residentBytes()

        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "gazetteer")
        writer.field("firstAnswerMilliseconds", rounded(Double(first) / 1e6, 2))
        for (name, bytes) in [
            ("empty", residentBefore), ("first", firstResident), ("million", millionResident),
        ] { writer.field("\(name)ResidentMegabytes", rounded(Double(bytes) / 1e6, 1)) }
        let zones = try Zones(path: path.replacing("places.gazetteer", with: "zones.gazetteer"))
        var random: [Coordinate] = []
        while random.count < count {
            let coordinate = try chance.coordinate()
            // On land, where there is something to say.
            if zones.number(at: coordinate).flatMap({ zones.country($0) }) != nil { random.append(coordinate) }
        }
        let sorted = random.sorted { Self.cell($0) < Self.cell($1) }
        writer.field("points", count)
        for (name, points) in [("random", random), ("sorted", sorted)] {
            let country = measured {
                zones.numbers(at: points).count { $0.flatMap { zones.country($0) } != nil }
            }
            let placemark = measured {
                gazetteer.placemarks(at: points, using: transform).count { $0.isoCountryCode != nil }
            }
            let distance = measured {
                // Antarctica has no place to be away from.
                gazetteer.placemarks(at: points, using: transform).count { ($0.distanceMeters ?? 0) >= 0 }
            }
            guard [country, placemark, distance].allSatisfy({ $0.known == points.count }) else { throw UsageError() }
            writer.field("\(name)CountryPerSecond", country.perSecond)
            writer.field("\(name)PlacemarkPerSecond", placemark.perSecond)
            writer.field("\(name)WithDistancePerSecond", distance.perSecond)
        }
        writer.field("sortedOnTwoThreadsPerSecond", onTwoThreads(sorted, gazetteer))
        var singles: [Int64] = []
        for point in random.prefix(20_000) {
            let began = nanoseconds()
            let placemark = gazetteer.placemark(at: point, using: transform)
            singles.append(nanoseconds() - began)
            if placemark.isoCountryCode == nil { throw UsageError() }
        }
        singles.sort()
        writer.field("singleMicroseconds", rounded(Double(singles[singles.count / 2]) / 1000, 2))
        for (name, text) in [("exact", "Springfield, IL"), ("prefix", "Johannesb"), ("misspelled", "Reykjavic")] {
            let began = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
            for _ in 0..<50 where gazetteer.places(named: text, limit: 1).isEmpty { throw UsageError() }
            writer.field(
                "\(name)Microseconds", rounded(Double(nanoseconds(CLOCK_THREAD_CPUTIME_ID) - began) / 50_000, 1))
        }
        writer.endObject()
        printLine(writer.bytes)
    }

    /// The rate per second of this thread's processor time, and the work's result.
    private func measured(_ work: () -> Int) -> (known: Int, perSecond: Int) {
        let began = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
        let known = work()
        return (known, Int(Double(count) / Double(nanoseconds(CLOCK_THREAD_CPUTIME_ID) - began) * 1e9))
    }

    /// Placemarks of two halves at once, a second of the clock on the wall.
    private func onTwoThreads(_ points: [Coordinate], _ gazetteer: Gazetteer) -> Int {
        let began = nanoseconds()
        let halves = [Array(points.prefix(points.count / 2)), Array(points.suffix(from: points.count / 2))]
        let workers = halves.map { half in
            WorkerThread {
                _ = gazetteer.placemarks(at: half, using: GeocentricTransform())
            }
        }
        for worker in workers { worker.join() }
        return Int(Double(points.count) / Double(nanoseconds() - began) * 1e9)
    }

    /// The number of a half degree, row by row in turning directions, so that neighbours follow one another.
    private static func cell(_ coordinate: Coordinate) -> Int {
        let row = Int((coordinate.latitude + 90) * 2)
        let column = Int((coordinate.longitude + 180) * 2)
        return row * 1000 + (row % 2 == 0 ? column : 999 - column)
    }

    private static func residentBytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        fgets(&line, 128, file)
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let fields = text.split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
    }
}
