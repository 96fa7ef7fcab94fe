internal import CSupport
internal import Glibc
internal import Synchronization

/// The answer that a handler owes to one request: it can be kept, passed on, and given once, from any thread.
///
/// If a responder is released without an answer, the client gets a 500.
package final class HTTPResponder: Sendable {
    private let answer: PendingAnswer

    init(_ answer: PendingAnswer) {
        self.answer = answer
    }

    deinit {
        answer.give(
            .problem(500, title: "Broken", detail: "The request was not answered; send it again."), unlessGiven: true)
    }

    /// Answers the request. An answer given before the handler returns is sent at once; later ones wake the server's
    /// thread. If the client has gone or the server has stopped, this has no effect.
    ///
    /// - Precondition: It is called once.
    package func respond(_ response: HTTPResponse) {
        answer.give(response, unlessGiven: false)
    }
}

/// An answer on its way to the server's thread.
final class PendingAnswer: Sendable {
    private enum State {
        /// The handler has not returned, so an answer need not wake the server's thread.
        case open
        /// The connection is suspended until the answer is posted.
        case awaited
        case given(HTTPResponse)
        /// The answer was taken, or is no longer needed. `isGiven` distinguishes a second answer from a late one.
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

    /// Takes the answer if it was given. Otherwise it is awaited from now on, and will be posted.
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

    /// Marks the answer as no longer needed: a later one is dropped.
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

/// Answers from other threads on their way to the server's thread. Its descriptor wakes that thread.
final class Mailbox: Sendable {
    /// Readable while something may be inside.
    let descriptor: CInt
    private struct State {
        var answers: [PendingAnswer] = []
        /// The connections whose streams have more bytes.
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

    /// Makes the descriptor readable. This fails only if it already is.
    func wake() {
        _ = eventfd_write(descriptor, 1)
    }

    /// Takes all content and resets the descriptor.
    func takeAll() -> (answers: [PendingAnswer], streams: [ObjectIdentifier]) {
        // First the descriptor, then the content: an answer posted in between wakes the thread once too often, never
        // too rarely.
        var count: eventfd_t = 0
        _ = eventfd_read(descriptor, &count)
        return state.withLock { state in
            defer { state = State() }
            return (state.answers, state.streams)
        }
    }
}
