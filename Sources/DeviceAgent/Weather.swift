internal import CoreLocation
internal import Foundation
internal import FoundationNetworking
internal import LocationSharingApp
internal import Synchronization

/// The network conditions of one phone: each message is late by up to a delay. Of the lost ones, half never arrive; the
/// others arrive and their answer is lost, so that they are sent again. With the same seed, the n-th message has the
/// same outcome.
final class Weather: Sendable {
    enum Fate { case arrives, isLost, answerIsLost }

    private let lossPercent: Double
    private let delaySeconds: Double
    private let noise: Mutex<SeededNoise>

    /// - Parameter purpose: a constant of the use, which keeps the fates of one seed's messages apart.
    init(lossPercent: Double, delaySeconds: Double, seed: UInt64, purpose: UInt64) {
        (self.lossPercent, self.delaySeconds) = (lossPercent, delaySeconds)
        noise = Mutex(SeededNoise(seed: seed, purpose: purpose))
    }

    func next() -> (fate: Fate, delaySeconds: Double) {
        noise.withLock { noise in
            let delay = noise.uniform() * delaySeconds
            let isLost = noise.uniform() * 100 < lossPercent
            let which = noise.uniform()
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
