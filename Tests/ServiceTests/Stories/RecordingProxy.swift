import Glibc
import Synchronization
import TestSupport
import Testing
import Threading

/// Stands between a client and a server of the loopback address, passes every byte on, and keeps a copy.
final class RecordingProxy: Sendable {
    /// Where it listens.
    let port: Int
    private let server: Int
    private let listener: Int32
    private let state = Mutex<(bytes: [UInt8], open: [Int32], isOver: Bool)>(([], [], false))
    private let threads = Mutex<[WorkerThread]>([])

    /// - Parameter server: The port of the server behind it.
    init(before server: Int) throws {
        self.server = server
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        port = try #require(Loopback.bind(listener))
        try #require(listen(listener, 64) == 0)
        start { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                connect(client)
            }
        }
    }

    /// What passed, in both directions, so far.
    var recorded: [UInt8] { state.withLock { $0.bytes } }

    /// Ends all connections; call it once.
    func stop() {
        state.withLock { state in
            state.isOver = true
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
        shutdown(listener, Int32(SHUT_RDWR))
        while let thread = threads.withLock({ $0.popLast() }) { thread.join() }
        close(listener)
        for descriptor in state.withLock({ $0.open }) { close(descriptor) }
    }

    private func start(_ body: @escaping @Sendable () -> Void) {
        let thread = WorkerThread(body)
        threads.withLock { $0.append(thread) }
    }

    private func connect(_ client: Int32) {
        let behind = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let isOver = state.withLock { state in
            state.open += [client, behind]
            return state.isOver
        }
        guard !isOver, Loopback.connect(behind, port: server) else {
            shutdown(client, Int32(SHUT_RDWR))
            return
        }
        for (from, to) in [(client, behind), (behind, client)] { start { [self] in pass(from, to) } }
    }

    private func pass(_ from: Int32, _ to: Int32) {
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(from, &piece, piece.count, 0), count > 0 {
            state.withLock { $0.bytes += piece[..<count] }
            guard send(to, piece, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(to, Int32(SHUT_WR))
    }
}
