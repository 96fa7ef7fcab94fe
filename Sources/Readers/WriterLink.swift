package import HTTPInterface
package import HTTPServer
package import Posting
import Synchronization
import Threading
package import Whereabouts

/// How a reader reaches the process that writes the log: one of several addresses, of which all but one wait for their turn.
package final class WriterLink: Sendable {
    /// The header of an answer by a process that cannot write: one that waits for its turn, or a reader. The request belongs
    /// to another address.
    package static let roleHeader = "Whereabouts-Role"
    /// The header of a request that a reader passes on. A reader that gets one is named as a writer by mistake.
    package static let passedHeader = "Whereabouts-Passed-On"

    private let addresses: [Origin]
    private let poster: Poster
    private let seal: ReaderSeal
    private let clock: @Sendable () -> Timestamp
    let figures: ReaderFigures
    /// How long an answer may take to begin.
    private let beginMilliseconds: Int64
    /// The index of the address that answered last.
    private let current = Atomic<Int>(0)

    /// Longer than a request may wait for the end of a query.
    package static let beginMillisecondsMax: Int64 = 120_000
    /// How long a record may take, of which a commit that waits for a standby is the longest part.
    private static let recordMilliseconds = 10_000

    /// - Parameters:
    ///   - addresses: At least one.
    ///   - trustFile: PEM file of certificates to trust instead of the system's.
    ///   - beginMilliseconds: How long the answer to a request that is passed on may take to begin.
    package init(
        _ addresses: [Origin], trustFile: String?, seal: ReaderSeal, figures: ReaderFigures,
        clock: @escaping @Sendable () -> Timestamp, beginMilliseconds: Int64 = WriterLink.beginMillisecondsMax
    ) {
        self.beginMilliseconds = beginMilliseconds
        precondition(!addresses.isEmpty, "A reader knows where the log is written.")
        (self.addresses, self.seal, self.figures, self.clock) = (addresses, seal, figures, clock)
        poster = Poster(trustFile: trustFile, rule: { _ in nil })
        poster.start()
    }

    /// Ends every request under way.
    package func stop() { poster.stop() }

    /// The addresses, the one that answered last first.
    private var order: [(index: Int, origin: Origin)] {
        let first = current.load(ordering: .relaxed)
        return addresses.indices.map { (first + $0) % addresses.count }.map { ($0, addresses[$0]) }
    }

    private func prefer(_ index: Int) { current.store(index, ordering: .relaxed) }

    // MARK: Records

    /// Why no process recorded anything, or why it is not known whether one did.
    enum RecordFault: Error { case noAnswer, anotherLog }

    /// Sends a message, and waits for the answer of the process that writes the log. Tries each address once.
    func send(_ request: RecordRequest) throws(RecordFault) -> RecordAnswer {
        let body = request.bytes
        var isOfAnotherLog = false
        for (index, origin) in order {
            let asked = MonotonicClock.seconds
            guard
                let (status, bytes) = send(
                    body, to: origin, RecordingEndpoint.path, milliseconds: Self.recordMilliseconds,
                    atMost: RecordAnswer.bytesMax)
            else { continue }
            if status == 409 { isOfAnotherLog = true }
            guard status == 200, let answer = RecordAnswer(bytes, to: request.reads.count) else { continue }
            prefer(index)
            figures.heard(head: answer.head, asked: asked)
            return answer
        }
        figures.noteSilence()
        throw isOfAnotherLog ? .anotherLog : .noAnswer
    }

    /// Sends a sealed message to the only address, and waits for the answer.
    ///
    /// - Returns: The answer, which has the seal of the house; `nil` without one.
    package func send(
        _ body: [UInt8], to path: String, milliseconds: Int, atMost bytesMax: Int
    ) -> (status: Int, body: [UInt8])? {
        send(body, to: addresses[0], path, milliseconds: milliseconds, atMost: bytesMax)
    }

    private func send(
        _ body: [UInt8], to origin: Origin, _ path: String, milliseconds: Int, atMost bytesMax: Int
    ) -> (status: Int, body: [UInt8])? {
        guard let url = PostURL("\(origin)\(path)") else { return nil }
        let sealed = seal.request(body, at: clock())
        let (status, header, bytes) = post(
            Post(
                to: url,
                headers: ["Content-Type: application/json", "\(ReaderSeal.requestHeader): \(sealed.header)"],
                body: body, milliseconds: milliseconds, wanting: [ReaderSeal.answerHeader]), atMost: bytesMax)
        guard status != 0, seal.isGood(header, bytes, status: status, to: sealed.nonce) else { return nil }
        return (status, bytes)
    }

    /// The answer to a request; status 0 without one.
    private func post(_ post: Post, atMost bytesMax: Int) -> (status: Int, header: String?, body: [UInt8]) {
        let body = Mutex([UInt8]())
        let end = Monitor<PostOutcome?>(nil)
        poster.send(post) { piece in
            body.withLock { body in
                body.append(contentsOf: piece)
                return body.count <= bytesMax
            }
        } _: { outcome in
            end.change { $0 = outcome }
        }
        guard case .answered(let status, _, let headers)? = end.wait(for: { $0 }) else { return (0, nil, []) }
        return (status, headers[ReaderSeal.answerHeader], body.withLock { $0 })
    }

    // MARK: Requests that are passed on

    /// A request that is passed on, and what is left to try.
    package struct Passage: Sendable {
        let method: String
        /// The path with its query.
        let target: String
        let headers: [String]
        let body: [UInt8]

        init(method: String, target: String, headers: [String], body: [UInt8]) {
            (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
        }

        /// A client's request as it came; `nil` if no address can have its path.
        package init?(_ request: HTTPRequest) {
            target = PassedRequest.target(of: request)
            // A byte that a path may not have is at no address.
            guard PostURL("http://localhost\(target)") != nil else { return nil }
            // The server cuts the body of an answer to HEAD off, and needs its length.
            method = request.isHead ? "GET" : request.method
            headers = PassedRequest.headers(of: request)
            body = request.body
        }

        /// Whether a repetition changes nothing.
        var isSafe: Bool { method == "GET" || method == "HEAD" }
    }

    /// Sends a request to the process that writes the log, and passes its answer on.
    ///
    /// An address where nothing listens, or where a process only waits, is left for the next one. A request that may have
    /// been received is not sent again unless it changes nothing.
    ///
    /// - Parameter receiver: Gets the answer of one address, or the word that there is none.
    package func pass(_ passage: Passage, to receiver: any AnswerReceiver) { pass(passage, order[...], to: receiver) }

    private func pass(
        _ passage: Passage, _ left: ArraySlice<(index: Int, origin: Origin)>, to receiver: any AnswerReceiver
    ) {
        guard let (index, origin) = left.first, let url = PostURL("\(origin)\(passage.target)") else {
            return receiver.fail()
        }
        var post = Post(
            passage.method, to: url, headers: passage.headers, body: passage.body, milliseconds: 0)
        post.isSentOnce = !passage.isSafe
        let state = Mutex((hasBegun: false, isForAnother: false))
        poster.pass(
            post,
            PassedAnswer(
                beginMilliseconds: beginMilliseconds,
                began: { [self] status, headers in
                    let isForAnother = headers.contains { $0.name.lowercased() == Self.roleHeader.lowercased() }
                    state.withLock { $0 = (true, isForAnother) }
                    if isForAnother { return }
                    prefer(index)
                    receiver.begin(status, headers)
                },
                piece: { piece in state.withLock { $0.isForAnother } ? .taken : receiver.take(piece) },
                isReady: { receiver.isReady },
                ended: { [self] fault in
                    let (hasBegun, isForAnother) = state.withLock { $0 }
                    if hasBegun, !isForAnother { return receiver.end(fault == nil) }
                    let isUnsent = fault.map { [.unknownHost, .notConnected, .tls].contains($0) } ?? true
                    guard fault != .stopped, isForAnother || isUnsent || passage.isSafe else { return receiver.fail() }
                    pass(passage, left.dropFirst(), to: receiver)
                }))
    }
}

/// Takes the answer to a request that was passed on. Called on the poster's thread, so it must be quick.
package protocol AnswerReceiver: Sendable {
    /// The status and headers.
    func begin(_ status: Int, _ headers: [(name: String, value: String)])
    /// A piece of the body.
    func take(_ piece: UnsafeRawBufferPointer) -> PassedAnswer.Piece
    /// Whether a piece that had to wait can be taken.
    var isReady: Bool { get }
    /// The end, after ``begin(_:_:)``.
    func end(_ isComplete: Bool)
    /// No process that writes the log answers; nothing was begun.
    func fail()
}
