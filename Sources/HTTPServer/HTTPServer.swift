internal import CSupport
internal import Glibc
internal import Synchronization
internal import Threading

/// An HTTP/1.1 server (libmicrohttpd) on its own thread.
///
/// Handlers get complete requests and may answer at once or later, from any thread. The server is meant to run behind a
/// reverse proxy with TLS: it binds only loopback addresses unless the configuration allows others.
///
/// It refuses malformed requests before the handler sees them, with 400, 408, 413, 414, 431 or 505, and closes the
/// connection. Its refusals have problem details (RFC 9457); those that libmicrohttpd makes have a line of HTML.
///
/// One `poll` on libmicrohttpd's epoll descriptor and our mailbox drives it, instead of libmicrohttpd's own thread.
/// That thread waits for a full timeout whenever exactly 128 connections are ready at once, which clients can cause.
package final class HTTPServer: Sendable {
    /// The port it listens on.
    package let port: Int

    private let loop: ServerLoop
    private let stage: Mutex<Stage>

    private enum Stage: ~Copyable {
        case bound(ListeningSocket)
        case running(WorkerThread)
        case over
    }

    /// Binds the address. Connections are accepted from ``start()`` on.
    ///
    /// - Parameters:
    ///   - handler: Called on the server's thread for every request. It must not block, because all other requests wait
    ///     meanwhile. It, or the code it passes the responder to, answers.
    /// - Throws: ``HTTPServerError`` if the address cannot or must not be bound.
    package init(
        _ configuration: HTTPServerConfiguration,
        handler: @escaping @Sendable (HTTPRequest, HTTPResponder) -> Void
    ) throws(HTTPServerError) {
        let socket = try ListeningSocket.bound(configuration)
        guard let mailbox = Mailbox() else { throw .cannotStart("no descriptor is left for an eventfd") }
        port = socket.port
        loop = ServerLoop(configuration, mailbox: mailbox, handler: handler)
        stage = Mutex(.bound(socket))
    }

    deinit {
        stop()
    }

    /// Begins to serve. From now on the whole process ignores SIGPIPE.
    ///
    /// - Precondition: It was not started before.
    /// - Throws: ``HTTPServerError`` if another server has begun to listen meanwhile, or if memory or threads are
    ///   exhausted.
    package func start() throws(HTTPServerError) {
        let port = port
        let loop = loop
        let result = stage.withLock { stage -> Result<Void, HTTPServerError> in
            guard case .bound(let socket) = consume stage else { preconditionFailure("A server is started once.") }
            stage = .over
            signal(SIGPIPE, SIG_IGN)
            guard let descriptor = socket.listen() else {
                return .failure(
                    .cannotListen(host: loop.configuration.host, port: port, reason: String(cString: strerror(errno))))
            }
            guard loop.start(listeningDescriptor: descriptor) else {
                return .failure(.cannotStart("libmicrohttpd refused"))
            }
            do throws(ThreadError) {
                stage = .running(try .started { loop.run() })
                return .success(())
            } catch {
                loop.giveUp()
                return .failure(.cannotStart("\(error)"))
            }
        }
        try result.get()
    }

    /// Accepts no more connections, lets received requests be answered for the configured time, closes everything and
    /// waits until that is done. A second call does nothing.
    ///
    /// - Parameter lastCall: Called once, on the server's thread, if requests still wait after that time. Answers given until
    ///   it returns are sent; the other requests get 503.
    /// - Precondition: The handler does not call it.
    package func stop(lastCall: (@Sendable () -> Void)? = nil) {
        let thread: WorkerThread? = stage.withLock { stage in
            let before = consume stage
            stage = .over
            switch consume before {
            case .running(let thread): return thread
            case .bound: return nil
            case .over: return nil
            }
        }
        guard let thread else { return }
        precondition(!thread.isCurrent, "The handler cannot wait for its own end.")
        loop.stop(lastCall: lastCall)
        thread.join()
    }

    /// As ``stop(lastCall:)``, but returns at once; call ``stop(lastCall:)`` to wait.
    package func beginStopping() { loop.stop() }

    /// Counts of the server's work since its start.
    package var counters: HTTPServerCounters { loop.counters.snapshot() }
}
