internal import CSupport
internal import Glibc
internal import Synchronization

/// The duty to answer one request: kept, passed on, and fulfilled once, from any thread.
///
/// If it is let go unfulfilled, the client gets a 500.
package final class HTTPResponder: Sendable {
    private let answer: PendingAnswer

    init(_ answer: PendingAnswer) {
        self.answer = answer
    }

    deinit {
        answer.give(
            .problem(500, title: "Broken", detail: "The request was not answered; send it again."), unlessGiven: true)
    }

    /// Answers the request. Given before the handler returns, the answer is sent without a detour; later ones wake the
    /// server's thread. If the client is gone or the server stopped, nothing happens.
    ///
    /// - Precondition: it is called once.
    package func respond(_ response: HTTPResponse) {
        answer.give(response, unlessGiven: false)
    }
}

/// An answer on its way from whoever gives it to the server's thread.
final class PendingAnswer: Sendable {
    private enum State {
        /// The handler has not returned: whoever gives the answer need not wake anybody.
        case open
        /// The connection is suspended until the answer is posted.
        case awaited
        case given(HTTPResponse)
        /// The answer was taken, or nobody waits for it any more. `isGiven` tells a second answer from a late one.
        case over(isGiven: Bool)
    }

    private let state = Mutex(State.open)
    private let mailbox: Mailbox

    init(mailbox: Mailbox) {
        self.mailbox = mailbox
    }

    func give(_ response: @autoclosure () -> HTTPResponse, unlessGiven: Bool) {
        let isAwaited = state.withLock { state in
            switch state {
            case .open:
                state = .given(response())
                return false
            case .awaited:
                state = .given(response())
                return true
            case .given, .over(isGiven: true):
                precondition(unlessGiven, "A request is answered once.")
                return false
            case .over(isGiven: false):
                state = .over(isGiven: true)
                return false
            }
        }
        if isAwaited { mailbox.post(self) }
    }

    /// The answer, if it was given; if not, it is awaited from now on and will be posted.
    func takeOrAwait() -> HTTPResponse? {
        state.withLock { state in
            switch state {
            case .open:
                state = .awaited
                return nil
            case .given(let response):
                state = .over(isGiven: true)
                return response
            case .awaited, .over:
                return nil
            }
        }
    }

    /// Nobody waits any more: an answer that comes later is dropped.
    func abandon() {
        state.withLock { state in
            switch state {
            case .open, .awaited: state = .over(isGiven: false)
            case .given: state = .over(isGiven: true)
            case .over: break
            }
        }
    }
}

/// Where answers from other threads wait for the server's thread, which its descriptor wakes.
final class Mailbox: Sendable {
    /// Readable while something may be inside.
    let descriptor: CInt
    private struct State {
        var answers: [PendingAnswer] = []
        /// The connections whose streams have more.
        var streams: [ObjectIdentifier] = []
        var isEmpty: Bool { answers.isEmpty && streams.isEmpty }
    }
    private let state = Mutex(State())

    init?() {
        descriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        if descriptor < 0 { return nil }
    }

    deinit {
        close(descriptor)
    }

    func post(_ answer: PendingAnswer) {
        add { $0.answers.append(answer) }
    }

    func post(stream connection: ObjectIdentifier) {
        add { $0.streams.append(connection) }
    }

    private func add(_ change: (inout State) -> Void) {
        let wasEmpty = state.withLock { state in
            defer { change(&state) }
            return state.isEmpty
        }
        if wasEmpty { wake() }
    }

    /// Makes the descriptor readable. It can only fail when it is readable already.
    func wake() {
        _ = eventfd_write(descriptor, 1)
    }

    /// Takes everything out and makes the descriptor wait again.
    func takeAll() -> (answers: [PendingAnswer], streams: [ObjectIdentifier]) {
        // First the descriptor, then the answers: one posted in between wakes once too often, never too rarely.
        var count: eventfd_t = 0
        _ = eventfd_read(descriptor, &count)
        return state.withLock { state in
            defer { state = State() }
            return (state.answers, state.streams)
        }
    }
}
