public import Foundation

/// A condition that a ``CLMonitor`` can watch.
public protocol CLCondition: Sendable {}

/// Whether a condition holds.
public enum CLMonitoringState: UInt, Sendable {
    case unknown = 0
    case satisfied = 1
    case unsatisfied = 2
    /// The system does not watch it.
    case unmonitored = 3
}

/// Watches conditions under a name; the system keeps them from one launch to the next until they are removed.
///
/// Each name has one live instance. An event that occurs while no loop reads ``events`` waits, and its condition is not
/// watched until the event has been taken.
public actor CLMonitor {
    public nonisolated let name: String
    /// The events of the conditions, from the start of the iteration. Iterate over it in one loop only.
    public let events: Events
    private let application: SimulatedApplication

    /// Opens the monitor of this name, with the conditions it had.
    ///
    /// - Precondition: made by an app's code, and no other instance of this name lives in the app's process.
    public init(_ name: String) async {
        guard let application = SimulatedApplication.current else {
            preconditionFailure("A monitor is opened by an app's code: use SimulatedApplication.run.")
        }
        self.name = name
        self.application = application
        events = Events(application: application, monitor: name)
        application.locked { application.open(self) }
    }

    public var identifiers: [String] {
        application.locked { application.monitors[name]?.conditions.keys.sorted() ?? [] }
    }

    /// Watches the condition from now on; the first event has its present state. A condition with the same identifier
    /// is replaced.
    public func add(_ condition: any CLCondition, identifier: String) {
        add(condition, identifier: identifier, assuming: .unknown)
    }

    /// Watches the condition from now on; the first event comes when its state differs from the assumed one.
    public func add(_ condition: any CLCondition, identifier: String, assuming state: Event.State) {
        application.locked {
            application.add(condition, to: name, identifier: identifier, assuming: state)
        }
    }

    public func remove(_ identifier: String) {
        application.locked { application.monitors[name]?.conditions[identifier] = nil }
    }

    /// The condition with its last event; while an event is being handled, still the one before it.
    public func record(for identifier: String) -> Record? {
        application.locked {
            application.monitors[name]?.conditions[identifier].map {
                Record(condition: $0.condition, lastEvent: $0.lastEvent)
            }
        }
    }

    // MARK: Conditions

    /// The device is within a circle; this requires full accuracy.
    public struct CircularGeographicCondition: CLCondition, Sendable {
        public let center: CLLocationCoordinate2D
        /// Meters.
        public let radius: CLLocationDistance

        public init(center: CLLocationCoordinate2D, radius: CLLocationDistance) {
            (self.center, self.radius) = (center, radius)
        }
    }

    // MARK: Events

    public struct Event: Sendable {
        public typealias State = CLMonitoringState

        public let identifier: String
        public let state: State
        public let date: Date
        /// The exact condition that was satisfied, for example one beacon of a region.
        public let refinement: (any CLCondition)?
        let diagnostics: ServiceDiagnostics

        init(
            identifier: String, state: State, date: Date, refinement: (any CLCondition)? = nil,
            diagnostics: ServiceDiagnostics = []
        ) {
            (self.identifier, self.state, self.date) = (identifier, state, date)
            (self.refinement, self.diagnostics) = (refinement, diagnostics)
        }

        public var authorizationDenied: Bool { diagnostics.contains(.authorizationDenied) }
        public var authorizationDeniedGlobally: Bool { diagnostics.contains(.authorizationDeniedGlobally) }
        public var authorizationRestricted: Bool { diagnostics.contains(.authorizationRestricted) }
        public var authorizationRequestInProgress: Bool { diagnostics.contains(.authorizationRequestInProgress) }
        public var insufficientlyInUse: Bool { diagnostics.contains(.insufficientlyInUse) }
        public var accuracyLimited: Bool { diagnostics.contains(.accuracyLimited) }
        public var serviceSessionRequired: Bool { diagnostics.contains(.serviceSessionRequired) }
        public var conditionUnsupported: Bool { diagnostics.contains(.conditionUnsupported) }
        public var conditionLimitExceeded: Bool { diagnostics.contains(.conditionLimitExceeded) }
        /// Never here: the simulated system can always write.
        public var persistenceUnavailable: Bool { false }
    }

    public struct Record: Sendable {
        public let condition: any CLCondition
        public let lastEvent: Event
    }

    /// The events of one monitor. A loop over it ends with the app's process.
    public struct Events: AsyncSequence, Sendable {
        public typealias Element = Event
        public typealias Failure = any Error
        let application: SimulatedApplication
        let monitor: String

        public func makeAsyncIterator() -> Iterator {
            let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
            application.locked { application.follow(monitor, with: continuation) }
            return Iterator(application: application, monitor: monitor, base: stream.makeAsyncIterator())
        }
    }

    public struct Iterator: AsyncIteratorProtocol {
        let application: SimulatedApplication
        let monitor: String
        var base: AsyncStream<Event>.Iterator
        private var inHand: Event?

        init(application: SimulatedApplication, monitor: String, base: AsyncStream<Event>.Iterator) {
            (self.application, self.monitor, self.base) = (application, monitor, base)
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Event? {
            if let inHand { application.locked { application.noteHandled(inHand, of: monitor) } }
            inHand = await base.next(isolation: actor)
            return inHand
        }
    }
}
