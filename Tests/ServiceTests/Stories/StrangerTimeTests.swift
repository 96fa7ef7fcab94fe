import Glibc
import TestSupport
import Testing

@testable import Service

/// The time of an answer does not reveal whether a person exists.
@Suite struct StrangerTimeTests {

    /// Running mean and variance (Welford 1962, DOI 10.1080/00401706.1962.10490022).
    private struct Sample {
        var count = 0.0, mean = 0.0, squares = 0.0

        mutating func add(_ value: Double) {
            count += 1
            let difference = value - mean
            mean += difference / count
            squares += difference * (value - mean)
        }

        var meanVariance: Double { squares / (count - 1) / count }
    }

    /// 10,000 interleaved pairs; |t| < 4.5 as the leakage assessment of Goodwill et al. (2011) has it. The tenth of each kind
    /// that took longest is left out: it measures the neighbours of this process.
    @Test(
        .enabled(if: isLongForm, "Minutes long: set WHEREABOUTS_LONG=1."), arguments: ["location-queries", "location"])
    func `refusing a stranger takes as long as not knowing a person`(what: String) throws {
        let house = try ServiceUnderTest(clock: .running)
        _ = try house.addPerson("walker")
        let stranger = try house.addPerson("stranger")
        let client = SocketClient(port: try house.listen())
        func nanoseconds(_ person: String) throws -> Double {
            var (before, after) = (timespec(), timespec())
            clock_gettime(CLOCK_MONOTONIC, &before)
            let answer =
                what == "location"
                ? try client.send("GET", "/v1/people/\(person)/location", as: stranger)
                : try client.send(
                    "POST", "/v1/people/\(person)/location-queries", as: stranger, #"{"purpose":"curious"}"#)
            clock_gettime(CLOCK_MONOTONIC, &after)
            #expect(answer.status == 404)
            return Double(after.tv_sec - before.tv_sec) * 1e9 + Double(after.tv_nsec - before.tv_nsec)
        }
        var times: [[Double]] = [[], []]
        var random = SystemRandomNumberGenerator()
        for pair in 0..<10_100 {
            for kind in Bool.random(using: &random) ? [0, 1] : [1, 0] {
                let time = try nanoseconds(kind == 0 ? "walker" : "nobody")
                // The first ones warm up.
                if pair >= 100 { times[kind].append(time) }
            }
        }
        let samples = times.map { times in
            var sample = Sample()
            for time in times.sorted().prefix(times.count * 9 / 10) { sample.add(time) }
            return sample
        }
        let difference = samples[0].mean - samples[1].mean
        let t = difference / (samples[0].meanVariance + samples[1].meanVariance).squareRoot()
        #expect(abs(t) < 4.5, "t = \(t), \(difference) ns apart at \(samples[0].mean) ns")
    }
}
