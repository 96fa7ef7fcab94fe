public import Foundation
internal import Whereabouts

/// The only time in a simulation. It moves on command, and runs everything that is due on the way in order: by moment;
/// at one moment, fixes before timers; otherwise first scheduled, first run.
///
/// Several devices may share a clock. It also holds the simulation's only lock, so that code of an app that runs as a
/// task may talk to its device from any thread.
///
/// `@unchecked Sendable`: every mutable field is touched only under ``lock``.
public final class SimulatedClock: @unchecked Sendable {
    /// The order of events of one moment.
    enum Rank: Int { case fix, timer }

    /// Names one thing to be done, so that it can be called off.
    struct Ticket: Hashable {
        fileprivate let number: Int
    }

    private struct Job {
        let moment: Timestamp
        let rank: Rank
        let number: Int
        let action: () -> Void

        func comesBefore(_ other: Job) -> Bool {
            (moment.milliseconds, rank.rawValue, number)
                < (other.moment.milliseconds, other.rank.rawValue, other.number)
        }
    }

    let lock = NSRecursiveLock()
    /// Tasks of apps run here, between one job and the next.
    let executor = SimulatedExecutor()
    /// Events from outside the simulation.
    let inbox = Inbox()
    private var isPatient = true
    private var current: Timestamp
    /// In the order they are due, the next one last. Few wait at a time, so an array is enough.
    private var jobs: [Job] = []
    private var nextNumber = 0
    private var isRunning = false

    /// A clock that shows `start`, to the nearest millisecond.
    ///
    /// - Precondition: `start` is before the year 10000.
    public init(start: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        guard let moment = Timestamp(seconds: start.timeIntervalSince1970) else {
            preconditionFailure("A simulation begins before the year 10000.")
        }
        current = moment
    }

    /// Whether time stops during external work for an app (``SimulatedApplication/outside(_:then:)``);
    /// true by default. Off where simulated time follows the real one.
    public var waitsForOutside: Bool {
        get { lock.withLock { isPatient } }
        set { lock.withLock { isPatient = newValue } }
    }

    /// The simulated time, in whole milliseconds.
    public var now: Date { moment.date }

    /// Lets this many seconds pass.
    public func advance(by seconds: TimeInterval) { run(until: now.addingTimeInterval(seconds)) }

    /// Lets time pass until `date`, including the work due at that moment. An earlier date does nothing.
    ///
    /// - Precondition: Not called from within an action of the clock.
    public func run(until date: Date) {
        lock.withLock {
            precondition(!isRunning, "What the clock does cannot move the clock.")
            guard let end = Timestamp(seconds: date.timeIntervalSince1970) else {
                preconditionFailure("A simulation ends before the year 10000.")
            }
            isRunning = true
            defer { isRunning = false }
            takeIn()
            while let job = jobs.last, job.moment <= end {
                jobs.removeLast()
                current = max(current, job.moment)
                job.action()
                takeIn()
            }
            current = max(current, end)
        }
    }

    private func takeIn() {
        executor.drain()
        while let action = inbox.next(waiting: isPatient) {
            action()
            executor.drain()
        }
    }

    /// When something is due next.
    public var nextDue: Date? { lock.withLock { jobs.last?.moment.date } }

    var moment: Timestamp { lock.withLock { current } }

    /// Does `action` when `seconds` have passed, 0 meaning directly after the present work.
    @discardableResult
    func after(_ seconds: Double, _ action: @escaping () -> Void) -> Ticket {
        lock.withLock {
            let milliseconds = Int64((max(0, seconds) * 1000).rounded())
            return at(Timestamp(milliseconds: current.milliseconds + milliseconds), .timer, action)
        }
    }

    @discardableResult
    func at(_ moment: Timestamp, _ rank: Rank, _ action: @escaping () -> Void) -> Ticket {
        lock.withLock {
            let job = Job(moment: max(moment, current), rank: rank, number: nextNumber, action: action)
            nextNumber += 1
            var (low, high) = (0, jobs.count)
            while low < high {
                let middle = (low + high) / 2
                if jobs[middle].comesBefore(job) { high = middle } else { low = middle + 1 }
            }
            jobs.insert(job, at: low)
            return Ticket(number: job.number)
        }
    }

    /// Calls it off; nothing happens when it has been done.
    func cancel(_ ticket: Ticket?) {
        guard let ticket else { return }
        lock.withLock { jobs.removeAll { $0.number == ticket.number } }
    }
}

extension Timestamp {
    var date: Date { Date(timeIntervalSince1970: seconds) }
}
