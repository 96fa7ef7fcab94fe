import Gazetteer
import Geodesy
import Glibc
import JSON

/// Answers of the gazetteer a second, and what it takes to give the first one.
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
    }

    func run() throws {
        let began = nanoseconds()
        let gazetteer = try Gazetteer(path: path)
        let transform = try GeocentricTransform()
        let vienna = try Coordinate(latitude: 48.2085, longitude: 16.3721)
        guard gazetteer.placemark(at: vienna, using: transform).locality == "Vienna" else { throw UsageError() }
        let first = nanoseconds() - began
        let firstResident = Self.residentBytes()

        var chance = Chance()
        var random: [Coordinate] = []
        while random.count < count {
            let coordinate = try Coordinate(
                latitude: asin(Double.random(in: -1...1, using: &chance)) * 180 / .pi,
                longitude: Double.random(in: -180...180, using: &chance))
            // On land, where there is something to say.
            if gazetteer.country(at: coordinate) != nil { random.append(coordinate) }
        }
        let sorted = random.sorted { Self.cell($0) < Self.cell($1) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "gazetteer")
        writer.field("points", count)
        writer.field("firstAnswerMilliseconds", rounded(Double(first) / 1e6, 2))
        writer.field("firstResidentMegabytes", rounded(Double(firstResident) / 1e6, 1))
        for (name, points) in [("random", random), ("sorted", sorted)] {
            let began = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
            var known = 0
            for point in points where gazetteer.country(at: point) != nil && gazetteer.timeZone(at: point) != nil {
                known += 1
            }
            let between = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
            for point in points where gazetteer.placemark(at: point, using: transform).timeZone != nil { known += 1 }
            let end = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
            guard known == 2 * points.count else { throw UsageError() }
            writer.field("\(name)CountryPerSecond", Int(Double(points.count) / Double(between - began) * 1e9))
            writer.field("\(name)PlacemarkPerSecond", Int(Double(points.count) / Double(end - between) * 1e9))
            writer.field("\(name)ResidentMegabytes", rounded(Double(Self.residentBytes()) / 1e6, 1))
        }
        var singles: [Int64] = []
        for point in random.prefix(20_000) {
            let began = nanoseconds()
            let placemark = gazetteer.placemark(at: point, using: transform)
            singles.append(nanoseconds() - began)
            if placemark.timeZone == nil { throw UsageError() }
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
