package import Answers
package import HTTPServer
package import Posting
import Synchronization

/// Passes an answer to the client of a reader: a short one as a whole, a long or endless one as it comes.
package final class PassingReceiver: AnswerReceiver {
    private struct State {
        var status = 0
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []
        /// The stream of an answer that has left already.
        var stream: HTTPStream?
        var isOver = false
    }

    private let state = Mutex(State())
    /// The answer if no process answers.
    private let silence: Problem
    private let finish: @Sendable (_ isAnswered: Bool) -> Void
    private let respond: @Sendable (HTTPResponse) -> Void

    /// Answers with at most this many bytes are passed on as a whole.
    private static let wholeBytesMax = 256 << 10
    /// What a client may leave unread of a longer answer before no more is taken.
    private static let waitingBytesMax = 1 << 20
    /// Answers with another status than 200 are never this long.
    private static let bytesMax = 16 << 20

    /// - Parameters:
    ///   - silence: The answer if no process answers.
    ///   - finish: Called once at the end.
    ///   - respond: Called once.
    package init(
        silence: Problem = noWriter, finish: @escaping @Sendable (_ isAnswered: Bool) -> Void,
        respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        (self.silence, self.finish, self.respond) = (silence, finish, respond)
    }

    package func begin(_ status: Int, _ headers: [(name: String, value: String)]) {
        let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) }
        let isWhole = status != 200 || (length.map { $0 <= Self.wholeBytesMax } ?? false)
        let response = state.withLock { state -> HTTPResponse? in
            state.status = status
            state.headers = headers.filter { PassedRequest.isPassedOn($0.name) }
            if isWhole { return nil }
            let stream = HTTPStream(bytesMax: 2 * Self.waitingBytesMax)
            state.stream = stream
            var response = HTTPResponse(status: status, headers: state.headers)
            response.stream = stream
            return response
        }
        if let response { respond(response) }
    }

    package func take(_ piece: UnsafeRawBufferPointer) -> PassedAnswer.Piece {
        let stream = state.withLock { state -> HTTPStream? in
            if state.stream == nil { state.body.append(contentsOf: piece) }
            return state.stream
        }
        guard let stream else { return state.withLock { $0.body.count <= Self.bytesMax } ? .taken : .refused }
        if stream.isOver { return .refused }
        if stream.waitingBytes > Self.waitingBytesMax { return .later }
        return stream.write(Array(piece)) ? .taken : .refused
    }

    package var isReady: Bool {
        guard let stream = state.withLock({ $0.stream }) else { return true }
        return stream.isOver || stream.waitingBytes <= Self.waitingBytesMax / 2
    }

    package func end(_ isComplete: Bool) {
        let (status, headers, body, stream) = state.withLock { ($0.status, $0.headers, $0.body, $0.stream) }
        if let stream {
            // A cut answer must not look complete.
            if isComplete { stream.finish() } else { stream.abandon() }
            finish(isComplete)
        } else if isComplete {
            // Counted first: a client that has its answer may ask for the counts.
            finish(true)
            respond(HTTPResponse(status: status, headers: headers, body: body))
        } else {
            fail()
        }
    }

    package func fail() {
        finish(false)
        respond(silence.response)
    }

    /// Nothing was read, recorded or changed, as far as this process knows.
    package static let noWriter = Problem(
        503, "No writer", "The process that writes the log does not answer; send the same request again later.",
        retryAfterSeconds: 1)
}
