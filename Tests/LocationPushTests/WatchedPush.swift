import Foundation
import LocationPush
import TestSupport
import Testing

/// Watches one push and keeps every call of its closures, in order.
final class WatchedPush: @unchecked Sendable {
    /// The calls of the sender.
    enum Word: Equatable {
        case began(Int)
        case attempted(Int, PushAttempt.Ending)
        case ended(PushOutcome)
    }

    /// The longest wait, far longer than a busy machine needs.
    static let secondsMax = patienceSeconds

    let request: LocationPushRequest
    // The fields below are touched only while `condition` is locked.
    private let condition = NSCondition()
    private var said: [Word] = []
    private var tries: [PushAttempt] = []
    private var wanted = true
    private var unwantedFromTry = Int.max

    init(_ request: LocationPushRequest) {
        self.request = request
    }

    /// Hands the push to a sender.
    func go(over sender: PushSender) -> WatchedPush {
        sender.send(
            request, isWanted: { self.isWanted },
            began: { number in self.note(.began(number)) },
            attempted: { attempt in self.note(.attempted(attempt.number, attempt.ending), attempt) },
            completion: { outcome in self.note(.ended(outcome)) })
        return self
    }

    /// Makes the push unwanted, without a call of `reconsider`.
    func unwant() { condition.withLock { wanted = false } }

    /// The push stops being wanted once this many tries have begun.
    func unwant(afterTries tries: Int) { condition.withLock { unwantedFromTry = tries } }

    var words: [Word] { condition.withLock { said } }
    var attempts: [PushAttempt] { condition.withLock { tries } }
    var outcomes: [PushOutcome] {
        words.compactMap { if case .ended(let outcome) = $0 { outcome } else { nil } }
    }

    /// Waits for a call of this kind.
    func wait(for isAwaited: (Word) -> Bool, _ location: SourceLocation = #_sourceLocation) {
        let latest = Date(timeIntervalSinceNow: Self.secondsMax)
        let found = condition.withLock {
            while !said.contains(where: isAwaited) {
                if !condition.wait(until: latest) { return said.contains(where: isAwaited) }
            }
            return true
        }
        if !found { Issue.record("said only \(words)", sourceLocation: location) }
    }

    /// Waits until the push has ended.
    ///
    /// - Returns: The outcome.
    func end(_ location: SourceLocation = #_sourceLocation) -> PushOutcome? {
        wait(for: { if case .ended = $0 { true } else { false } }, location)
        return outcomes.first
    }

    /// Expects that each try that began ended once, in order, and that the only outcome came last.
    func expectOrder(_ location: SourceLocation = #_sourceLocation) {
        let words = words
        var expected: [Int] = []
        for (index, word) in words.enumerated() {
            switch word {
            case .began(let number):
                #expect(index % 2 == 0, sourceLocation: location)
                expected.append(number)
            case .attempted(let number, _):
                #expect(index % 2 == 1 && number == expected.last, sourceLocation: location)
            case .ended: #expect(index == words.count - 1, "\(words)", sourceLocation: location)
            }
        }
        #expect(expected == Array(1..<expected.count + 1), sourceLocation: location)
        #expect(attempts.map(\.number) == expected, "a try that began is on record", sourceLocation: location)
        #expect(outcomes.count == 1, "\(words)", sourceLocation: location)
    }

    private var isWanted: Bool {
        condition.withLock { wanted && tries.count < unwantedFromTry }
    }

    private func note(_ word: Word, _ attempt: PushAttempt? = nil) {
        condition.withLock {
            said.append(word)
            if let attempt { tries.append(attempt) }
            condition.broadcast()
        }
    }
}

extension Scene {
    /// A watched push.
    func watched(withinMs: Int64 = Scene.generousMs) throws -> WatchedPush {
        WatchedPush(try push(withinMs: withinMs))
    }
}
