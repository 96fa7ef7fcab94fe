/// One of the updates an app follows with ``liveUpdates(_:)``: a location, or why there is none.
public struct CLLocationUpdate: Sendable {
    public let location: CLLocation?
    /// The device stays; no update follows until it moves.
    public let stationary: Bool
    let diagnostics: ServiceDiagnostics

    init(location: CLLocation? = nil, stationary: Bool = false, diagnostics: ServiceDiagnostics) {
        (self.location, self.stationary, self.diagnostics) = (location, stationary, diagnostics)
    }

    /// The name of iOS 17 for ``stationary``.
    public var isStationary: Bool { stationary }
    public var authorizationDenied: Bool { diagnostics.contains(.authorizationDenied) }
    public var authorizationDeniedGlobally: Bool { diagnostics.contains(.authorizationDeniedGlobally) }
    public var authorizationRestricted: Bool { diagnostics.contains(.authorizationRestricted) }
    public var authorizationRequestInProgress: Bool { diagnostics.contains(.authorizationRequestInProgress) }
    public var insufficientlyInUse: Bool { diagnostics.contains(.insufficientlyInUse) }
    public var locationUnavailable: Bool { diagnostics.contains(.locationUnavailable) }
    public var accuracyLimited: Bool { diagnostics.contains(.accuracyLimited) }
    public var serviceSessionRequired: Bool { diagnostics.contains(.serviceSessionRequired) }

    /// The kind of movement that is followed.
    public enum LiveConfiguration: Int, Sendable {
        case `default` = 0
        case automotiveNavigation = 1
        case otherNavigation = 2
        case fitness = 3
        case airborne = 4
    }

    /// The device's locations while a loop iterates over them. Leaving the loop stops the updates; a stay pauses them.
    public static func liveUpdates(_ configuration: LiveConfiguration = .default) -> Updates {
        Updates(configuration: configuration)
    }

    /// Iterate over it in a task of an app; the loop ends with the app's process.
    public struct Updates: AsyncSequence, Sendable {
        public typealias Element = CLLocationUpdate
        public typealias Failure = any Error
        let configuration: LiveConfiguration

        /// - Precondition: called by an app's code.
        public func makeAsyncIterator() -> Iterator {
            guard let application = SimulatedApplication.current else {
                preconditionFailure("Live updates are followed by an app's code: use SimulatedApplication.run.")
            }
            let (stream, continuation) = AsyncStream.makeStream(of: CLLocationUpdate.self)
            application.locked { application.followLocation(configuration, with: continuation) }
            return Iterator(base: stream.makeAsyncIterator())
        }
    }

    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncStream<CLLocationUpdate>.Iterator

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> CLLocationUpdate? {
            await base.next(isolation: actor)
        }
    }
}
