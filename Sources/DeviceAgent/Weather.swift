internal import CoreLocation
internal import Foundation
internal import FoundationNetworking
internal import LocationSharingApp
internal import Synchronization

/// Chance from a seed, the same on every run (SplitMix64: Steele, Lea, Flood 2014, DOI 10.1145/2714064.2660195).
struct Dice: Sendable {
    private var state: UInt64

    init(seed: UInt64, stream: UInt64) {
        state = seed
        state = next() ^ stream
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// 0 ..< 1.
    mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }
}

/// What befalls the messages of one phone: each is late by up to a delay, and of those lost half never arrive and of the
/// others the answer is lost, so that they are sent again. The same seed gives the n-th message the same fate.
final class Weather: Sendable {
    enum Fate { case arrives, isLost, answerIsLost }

    private let lossPercent: Double
    private let delaySeconds: Double
    private let dice: Mutex<Dice>

    init(lossPercent: Double, delaySeconds: Double, seed: UInt64, stream: UInt64) {
        (self.lossPercent, self.delaySeconds) = (lossPercent, delaySeconds)
        dice = Mutex(Dice(seed: seed, stream: stream))
    }

    func next() -> (fate: Fate, delaySeconds: Double) {
        dice.withLock { dice in
            let delay = dice.uniform() * delaySeconds
            let isLost = dice.uniform() * 100 < lossPercent
            let which = dice.uniform()
            return (isLost ? (which < 0.5 ? .isLost : .answerIsLost) : .arrives, delay)
        }
    }
}

/// The network as a simulated app has it: answers come on the thread of the simulation, a dead process gets none, and
/// the weather may take a message or its answer.
struct AppNetwork: RequestSending {
    /// How long an app waits for an answer that does not come, in seconds.
    private static let patienceSeconds = 10.0

    let base: any RequestSending
    let weather: Weather?

    func send(
        _ request: URLRequest, completion: @escaping @Sendable (Result<ServiceAnswer, any Error>) -> Void
    ) {
        guard let application = SimulatedApplication.current else { return base.send(request, completion: completion) }
        guard let (fate, delay) = weather?.next() else {
            return application.outside({ base.send(request, completion: $0) }, then: completion)
        }
        let giveUp = { application.after(Self.patienceSeconds) { completion(.failure(URLError(.timedOut))) } }
        application.after(delay) {
            switch fate {
            case .isLost: giveUp()
            case .arrives: application.outside({ base.send(request, completion: $0) }, then: completion)
            case .answerIsLost:
                application.outside(
                    { (done: @escaping @Sendable (Result<ServiceAnswer, any Error>) -> Void) in
                        base.send(request, completion: done)
                    }, then: { _ in giveUp() })
            }
        }
    }
}
