internal import CSupport
internal import Glibc
internal import Synchronization

/// An HTTP/1.1 server (libmicrohttpd) on one thread of its own.
///
/// Requests are handed over complete; answers may come at once or later, from any thread. It is meant to stand behind
/// a reverse proxy that speaks TLS: only loopback addresses are bound unless the configuration allows others.
///
/// What is malformed is refused before the handler sees it, with 400, 408, 413, 414, 431 or 505, and the connection is
/// closed. Refusals of ours have problem details (RFC 9457) as their content, those that libmicrohttpd makes by itself
/// a line of HTML.
///
/// One `poll` on libmicrohttpd's epoll descriptor and our own mailbox drives it, not libmicrohttpd's own thread: that
/// one waits for a full timeout whenever exactly 128 connections are ready at once, which clients can bring about.
package final class HTTPServer: Sendable {
    /// The port it listens on.
    package let port: Int

    private let loop: ServerLoop
    private let stage: Mutex<Stage>

    private enum Stage: ~Copyable {
        case bound(ListeningSocket)
        case running(pthread_t)
        case over
    }

    /// Binds the address, without taking connections yet.
    ///
    /// - Parameters:
    ///   - handler: called on the server's thread for every request. While it runs nobody else is served: it must
    ///     not block. It, or whoever it passes the responder to, answers.
    /// - Throws: ``HTTPServerError`` if the address cannot or must not be bound.
    package init(
        _ configuration: HTTPServerConfiguration,
        handler: @escaping @Sendable (HTTPRequest, HTTPResponder) -> Void
    ) throws(HTTPServerError) {
        let socket = try ListeningSocket.bound(configuration)
        guard let mailbox = Mailbox() else { throw .cannotStart("there is no descriptor left for an eventfd") }
        port = socket.port
        loop = ServerLoop(configuration, mailbox: mailbox, handler: handler)
        stage = Mutex(.bound(socket))
    }

    deinit {
        stop()
    }

    /// Begins to serve. SIGPIPE is ignored from now on in the whole process.
    ///
    /// - Precondition: it was not started before.
    /// - Throws: ``HTTPServerError`` if another server began to listen meanwhile, or memory or threads are exhausted.
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
            var thread = pthread_t()
            let retained = Unmanaged.passRetained(loop)
            let error = pthread_create(
                &thread, nil,
                { loop in
                    if let loop { Unmanaged<ServerLoop>.fromOpaque(loop).takeRetainedValue().run() }
                    return nil
                }, retained.toOpaque())
            guard error == 0 else {
                retained.release()
                loop.giveUp()
                return .failure(.cannotStart(String(cString: strerror(error))))
            }
            stage = .running(thread)
            return .success(())
        }
        try result.get()
    }

    /// Accepts no more connections, lets received requests be answered for the configured time, closes everything and waits
    /// until that is done. A second call does nothing.
    ///
    /// - Parameter lastCall: Called once, on the server's thread, if requests still wait after that time. Answers given until
    ///   it returns are sent; the other requests get 503.
    /// - Precondition: The handler does not call it.
    package func stop(lastCall: (@Sendable () -> Void)? = nil) {
        let thread: pthread_t? = stage.withLock { stage in
            let before = consume stage
            stage = .over
            switch consume before {
            case .running(let thread): return thread
            case .bound: return nil
            case .over: return nil
            }
        }
        guard let thread else { return }
        precondition(pthread_equal(thread, pthread_self()) == 0, "The handler cannot wait for its own end.")
        loop.stop(lastCall: lastCall)
        pthread_join(thread, nil)
    }

    /// As ``stop(lastCall:)``, but returns at once; call ``stop(lastCall:)`` to wait.
    package func beginStopping() { loop.stop() }

    /// What the server has done so far.
    package var counters: HTTPServerCounters { loop.counters.snapshot() }
}
