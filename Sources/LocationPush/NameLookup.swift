internal import Synchronization
internal import Threading

/// Looks up the APNs host on its own thread, one look-up at a time: `getaddrinfo` may take half a minute, and neither
/// the poll loop nor the shared pool may wait for it.
final class NameLookup: Sendable {
    private enum State {
        case idle, running
        case done(Result<[SocketAddress], TransportFault>)
    }

    private let host: String
    private let port: UInt16
    private let wake: WakePipe
    private let state = Mutex(State.idle)

    /// - Parameter wake: woken when a result can be taken.
    init(host: String, port: UInt16, wake: WakePipe) {
        self.host = host
        self.port = port
        self.wake = wake
    }

    /// Takes the result if there is one, otherwise begins to look unless that is under way.
    func poll() -> Result<[SocketAddress], TransportFault>? {
        let (result, mustStart) = state.withLock { state -> (Result<[SocketAddress], TransportFault>?, Bool) in
            switch state {
            case .idle:
                state = .running
                return (nil, true)
            case .running:
                return (nil, false)
            case .done(let result):
                state = .idle
                return (result, false)
            }
        }
        guard mustStart else { return result }
        do throws(TransportFault) {
            try startThread { [self] in
                let found: Result<[SocketAddress], TransportFault>
                do throws(TransportFault) {
                    found = .success(try SocketAddress.resolve(host: host, port: port))
                } catch {
                    found = .failure(error)
                }
                state.withLock { $0 = .done(found) }
                wake.wake()
            }.detach()
            return nil
        } catch {
            state.withLock { $0 = .idle }
            return .failure(error)
        }
    }
}
