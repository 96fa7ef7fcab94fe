public import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// What a phone still has to tell the service, oldest first, sent again with the same bytes until it is acknowledged.
///
/// Each message is a file in the folder that app and extension share, put there whole before it is sent and removed when
/// the service has it. So nothing is lost with a process, what the extension could not deliver in its half minute is
/// delivered by the app, and no lock is held while the network is waited for. Two processes may send the same message:
/// the service takes the second one for the same.
///
/// Any thread may use it. `@unchecked Sendable`: every mutable field is touched only under the lock.
public final class Outbox: @unchecked Sendable {
    /// One message to the service.
    public struct Message: Codable, Sendable, Equatable {
        public enum Kind: String, Codable, Sendable { case token, fixes, reports }

        public let kind: Kind
        public let method: String
        /// Begins with `/`.
        public let path: String
        /// JSON.
        public let body: Data
        /// The query whose push brought it about.
        public let query: String?

        public init(kind: Kind, method: String = "POST", path: String, body: Data, query: String? = nil) {
            (self.kind, self.method, self.path, self.body, self.query) = (kind, method, path, body, query)
        }
    }

    /// What became of a message.
    public enum Event: Sendable {
        case acknowledged(Message, ServiceAnswer, attempts: Int)
        /// The service will never take it; sending it again would block the rest for nothing.
        case refused(Message, status: Int)
        case retrying(Message, reason: String, afterSeconds: Double)
        /// There were too many.
        case dropped(Message)
    }

    /// Messages kept at most; one more pushes the oldest out, whose asker has waited longest in vain.
    public static let capacity = 1000
    /// Seconds to wait after a first failure, doubled with each further one up to the longest wait.
    static let retrySeconds = 0.5
    static let retrySecondsMax = 30.0
    /// Seconds the service may be silent: the system gives an extension about half a minute for everything.
    static let patienceSeconds = 10.0

    private let account: ServiceAccount
    private let surroundings: Surroundings
    private let process: String
    private let tell: @Sendable (Event) -> Void
    private let lock = NSLock()
    private var count = 0
    private var attempts = 0
    private var isSending = false
    private var isWaiting = false
    /// Sent before all others: an asker waits for it.
    private var urgent: String?
    private var whenDelivered: [String: @Sendable () -> Void] = [:]

    /// - Parameters:
    ///   - process: tells the files of app and extension apart, as `app` and `extension` do.
    ///   - tell: hears what becomes of the messages, for diagnostics.
    public init(
        account: ServiceAccount, surroundings: Surroundings, process: String,
        tell: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        (self.account, self.surroundings, self.process, self.tell) = (account, surroundings, process, tell)
    }

    private var folder: URL { surroundings.container.appendingPathComponent("outbox", isDirectory: true) }

    /// Puts a message at the end and sends what can be sent.
    ///
    /// - Parameters:
    ///   - isUrgent: whether it goes before the ones that wait already.
    ///   - whenDelivered: called when the service has the message, or will never take it.
    /// - Throws: what the file system has against it.
    public func add(
        _ message: Message, isUrgent: Bool = false, whenDelivered: (@Sendable () -> Void)? = nil
    ) throws {
        let bytes = try JSONEncoder().encode(message)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let dropped = try lock.withLock { () throws -> [Message] in
            // The service wants the newest token only.
            if message.kind == .token { for name in try names() where name.hasSuffix("-token") { remove(name) } }
            let name = newName(for: message)
            try bytes.write(to: folder.appendingPathComponent(name), options: .atomic)
            self.whenDelivered[name] = whenDelivered
            if isUrgent { urgent = name }
            let all = try names()
            return all.prefix(max(0, all.count - Self.capacity)).compactMap { name in
                defer { remove(name) }
                return read(name)
            }
        }
        for message in dropped { tell(.dropped(message)) }
        deliver()
    }

    /// Sends what waits, until there is nothing or the service has to be left alone for a while. Call it at each launch.
    public func deliver() {
        let next = lock.withLock { () -> (String, Message)? in
            guard !isSending, !isWaiting, let next = nextMessage() else { return nil }
            isSending = true
            return next
        }
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
        // Time-out, too many requests and faults of the service pass; every other refusal is final.
        case .success(let answer) where answer.status < 500 && answer.status != 408 && answer.status != 429:
            tell(.refused(message, status: answer.status))
            end(name)
        case .success(let answer): retry(message, after: attempt, because: "\(answer.status)")
        case .failure: retry(message, after: attempt, because: "no answer")
        }
    }

    private func end(_ name: String) {
        let isOver = lock.withLock { () -> (@Sendable () -> Void)? in
            attempts = 0
            if urgent == name { urgent = nil }
            remove(name)
            return whenDelivered.removeValue(forKey: name)
        }
        isOver?()
        deliver()
    }

    private func retry(_ message: Message, after attempts: Int, because reason: String) {
        // 2⁶ half seconds are beyond the longest wait already.
        let seconds = min(Self.retrySeconds * Double(1 << min(attempts - 1, 6)), Self.retrySecondsMax)
        tell(.retrying(message, reason: reason, afterSeconds: seconds))
        lock.withLock { isWaiting = true }
        surroundings.after(seconds) { [self] in
            lock.withLock { isWaiting = false }
            deliver()
        }
    }

    // MARK: Files

    /// In the order they were made: names begin with the time.
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
            // The other process has delivered it, or a file is there that is no message.
            remove(name)
        }
        return nil
    }

    private func read(_ name: String) -> Message? {
        guard let bytes = try? Data(contentsOf: folder.appendingPathComponent(name)) else { return nil }
        return try? JSONDecoder().decode(Message.self, from: bytes)
    }

    private func remove(_ name: String) {
        try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
}
