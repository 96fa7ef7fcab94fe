public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A phone's undelivered messages to the service, oldest first, sent again with the same bytes until acknowledged.
///
/// Each message is a file in the folder that the app and its extension share. The file is written atomically before the
/// message is sent and is removed when the service has acknowledged or refused it. So no message is lost with a
/// process, the app delivers the messages that the extension could not deliver in its half minute, and no lock is held
/// during a request. Two processes may send the same message; the service recognizes the repetition.
///
/// One request is in progress at a time per process. After a failure all messages wait, including urgent ones.
///
/// Any thread may use it. `@unchecked Sendable`: every mutable field is touched only under the lock.
public final class Outbox: @unchecked Sendable {
    /// One message to the service.
    public struct Message: Codable, Sendable, Equatable {
        /// The kind is the end of the file's name. A new `token` message replaces the waiting ones.
        public enum Kind: String, Codable, Sendable { case token, fixes, reports, envelopes }

        /// The kind of the message; a new `token` message replaces the waiting one.
        public let kind: Kind
        /// The HTTP method.
        public let method: String
        /// Begins with `/`.
        public let path: String
        /// JSON.
        public let body: Data
        /// The query whose push caused the message; `nil` for a message that no push caused.
        public let query: String?

        /// A message with these parts. Nothing is checked or written.
        public init(kind: Kind, method: String = "POST", path: String, body: Data, query: String? = nil) {
            (self.kind, self.method, self.path, self.body, self.query) = (kind, method, path, body, query)
        }
    }

    /// A step in the delivery of a message, for diagnostics.
    public enum Event: Sendable {
        /// An answer of 200–299. `attempts` counts from 1 and includes this one.
        case acknowledged(Message, ServiceAnswer, attempts: Int)
        /// Another answer below 500, except 408 and 429. It is final: repeating the request would only delay the
        /// others.
        case refused(Message, status: Int)
        /// No answer, 408, 429 or 500 and above. `reason` is the status or `no answer`.
        case retrying(Message, reason: String, afterSeconds: Double)
        /// Removed undelivered, because there were more than ``Outbox/capacity``.
        case dropped(Message)
    }

    /// The most messages kept. One more removes the oldest, whose requester has probably given up.
    public static let capacity = 1000
    /// The seconds to wait after a first failure; each further failure doubles them, up to ``retrySecondsMax``.
    static let retrySeconds = 0.5
    static let retrySecondsMax = 30.0
    /// The seconds to wait for an answer: the system gives an extension about half a minute in all.
    static let patienceSeconds = 10.0

    private let account: ServiceAccount
    private let surroundings: Surroundings
    private let process: String
    private let tell: @Sendable (Event) -> Void
    private let lock = NSLock()
    /// Files named by this process so far; it makes names of the same millisecond distinct.
    private var count = 0
    /// Requests since the last message was acknowledged or refused.
    private var attempts = 0
    private var isSending = false
    private var isWaiting = false
    /// The file of the message that is sent before all others, because a requester waits for it.
    private var urgent: String?
    /// By file name; only for messages that this process added.
    private var whenOver: [String: @Sendable () -> Void] = [:]

    /// - Parameters:
    ///   - process: distinguishes the files of the app and the extension; `app` or `extension`.
    ///   - tell: called with each step of a delivery, on any thread.
    public init(
        account: ServiceAccount, surroundings: Surroundings, process: String,
        tell: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        (self.account, self.surroundings, self.process, self.tell) = (account, surroundings, process, tell)
    }

    private var folder: URL { surroundings.container.appendingPathComponent("outbox", isDirectory: true) }

    /// Appends a message, or puts it first, and starts the delivery. Returns before the message is sent.
    ///
    /// - Parameters:
    ///   - isUrgent: whether the message goes before all waiting ones.
    ///   - whenOver: called once, on any thread, when the message waits no longer: it was acknowledged, refused, dropped
    ///     or replaced, or the other process delivered it, which is noticed at the next try of this process.
    /// - Throws: the file system's error; the message is then not stored.
    public func add(
        _ message: Message, isUrgent: Bool = false, whenOver: (@Sendable () -> Void)? = nil
    ) throws {
        let bytes = try JSONEncoder().encode(message)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let dropped = try lock.withLock { () throws -> [Message] in
            // The service wants the newest token only.
            if message.kind == .token { for name in try names() where name.hasSuffix("-token") { remove(name) } }
            let name = newName(for: message)
            try bytes.write(to: folder.appendingPathComponent(name), options: .atomic)
            self.whenOver[name] = whenOver
            if isUrgent { urgent = name }
            let all = try names()
            return all.prefix(max(0, all.count - Self.capacity)).compactMap { name in
                defer { remove(name) }
                return read(name)
            }
        }
        for message in dropped { tell(.dropped(message)) }
        tellWhatIsOver()
        deliver()
    }

    /// Starts sending the waiting messages, oldest first. Call it at each launch.
    ///
    /// Does nothing while a request is in progress or after a failure, until the wait is over.
    public func deliver() {
        let next = lock.withLock { () -> (String, Message)? in
            guard !isSending, !isWaiting, let next = nextMessage() else { return nil }
            isSending = true
            return next
        }
        tellWhatIsOver()
        guard let (name, message) = next else { return }
        var request = URLRequest(url: account.service.appendingPathComponent(message.path))
        request.httpMethod = message.method
        request.timeoutInterval = Self.patienceSeconds
        request.setValue("Bearer \(account.reportingKey)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = message.body
        surroundings.network.send(request) { [self] in take($0, of: message, named: name) }
    }

    private func take(_ result: Result<ServiceAnswer, any Error>, of message: Message, named name: String) {
        let attempt = lock.withLock { () -> Int in
            isSending = false
            attempts += 1
            return attempts
        }
        switch result {
        case .success(let answer) where (200..<300).contains(answer.status):
            tell(.acknowledged(message, answer, attempts: attempt))
            end(name)
        // 408, 429 and 500 and above are temporary; every other refusal is final.
        case .success(let answer) where answer.status < 500 && answer.status != 408 && answer.status != 429:
            tell(.refused(message, status: answer.status))
            end(name)
        case .success(let answer): retry(message, after: attempt, because: "\(answer.status)")
        case .failure: retry(message, after: attempt, because: "no answer")
        }
    }

    private func end(_ name: String) {
        lock.withLock {
            attempts = 0
            remove(name)
        }
        deliver()
    }

    /// Calls ``whenOver`` for each message whose file is gone, whichever process removed it.
    private func tellWhatIsOver() {
        let over = lock.withLock {
            whenOver.keys.filter { !FileManager.default.fileExists(atPath: folder.appendingPathComponent($0).path) }
                .compactMap { whenOver.removeValue(forKey: $0) }
        }
        for call in over { call() }
    }

    private func retry(_ message: Message, after attempts: Int, because reason: String) {
        // 2⁶ half seconds exceed the longest wait already.
        let seconds = min(Self.retrySeconds * Double(1 << min(attempts - 1, 6)), Self.retrySecondsMax)
        tell(.retrying(message, reason: reason, afterSeconds: seconds))
        lock.withLock { isWaiting = true }
        surroundings.after(seconds) { [self] in
            lock.withLock { isWaiting = false }
            deliver()
        }
    }

    // MARK: Files

    /// In the order in which the messages were added: each name begins with the time in milliseconds.
    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }.sorted()
    }

    private func newName(for message: Message) -> String {
        let milliseconds = String(Int64(surroundings.now().timeIntervalSince1970 * 1000))
        while true {
            count += 1
            let time = String(repeating: "0", count: max(0, 15 - milliseconds.count)) + milliseconds
            let name = "\(time)-\(process)-\(count + 100_000)-\(message.kind.rawValue)"
            if !FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path) { return name }
        }
    }

    private func nextMessage() -> (String, Message)? {
        let candidates = [urgent].compactMap { $0 } + ((try? names()) ?? [])
        for name in candidates {
            if let message = read(name) { return (name, message) }
            // The other process has delivered it, or the file is not a message.
            remove(name)
        }
        return nil
    }

    private func read(_ name: String) -> Message? {
        guard let bytes = try? Data(contentsOf: folder.appendingPathComponent(name)) else { return nil }
        return try? JSONDecoder().decode(Message.self, from: bytes)
    }

    private func remove(_ name: String) {
        if urgent == name { urgent = nil }
        try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
}
