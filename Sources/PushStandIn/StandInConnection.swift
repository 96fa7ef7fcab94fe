internal import LocationPush

/// One sender's connection to the stand-in. Belongs to the stand-in's thread.
final class StandInConnection {
    /// APNs allows one stream until the first valid push, then about a thousand.
    private static let streamsBeforeValidPush = 1

    let number: Int
    let http: HTTP2Connection
    /// A black hole: nothing is read or written any more.
    var isSilent = false
    /// If set, the connection answers only every n-th request, and none for 0. It still answers PING and SETTINGS.
    var answersEvery: Int?
    /// The number of requests since `answersEvery` was set.
    private var muteRequests = 0
    /// The last stream that a GOAWAY lets through.
    var lastStream = Int32.max
    /// Pushes that a GOAWAY to come will leave unprocessed, while they gather.
    var gathering: Gathering?
    /// Why the connection was lost.
    private(set) var fault: TransportFault?
    private let requests = StandInRequests()

    struct Gathering {
        let firstStream: Int32
        let reason: String
        var left: Int
    }

    private var isTrusted = false
    private var providerToken: String?
    private var providerTokenChangedMs: Int64?

    init(number: Int, descriptor: Int32, context: TLSContext) throws(TransportFault) {
        self.number = number
        let session = HTTP2Session.server(events: requests, maxConcurrentStreams: Self.streamsBeforeValidPush)
        self.http = try HTTP2Connection(descriptor, context: context, serverName: nil, session: session)
    }

    var isClosed: Bool { http.stage == .closed }
    /// Whether the script has cut it.
    private(set) var isCut = false

    /// Sends the answers given so far and closes.
    func cut() {
        try? http.flush()
        isCut = true
        http.close()
    }

    /// Reads and writes as much as the socket allows. Requests that arrived before a connection was lost still count.
    func advance() {
        do throws(TransportFault) { try http.advance() } catch { fault = error }
    }

    /// Whether the next request gets no answer.
    func leavesUnanswered() -> Bool {
        guard let answersEvery else { return false }
        muteRequests += 1
        return answersEvery == 0 || muteRequests % answersEvery != 0
    }

    /// The requests that have arrived completely since the last call.
    func takeArrived() -> [(stream: Int32, request: ArrivedRequest)] {
        defer { requests.arrived.removeAll(keepingCapacity: true) }
        return requests.arrived
    }

    /// The streams that the sender has reset since the last call.
    func takeResets() -> [(stream: Int32, errorCode: UInt32)] {
        defer { requests.resets.removeAll(keepingCapacity: true) }
        return requests.resets
    }

    /// Notes the provider token of a push; false when it is the second change within 20 minutes.
    func noteProviderToken(_ token: String, atMs now: Int64) -> Bool {
        guard let before = providerToken, before != token else {
            providerToken = token
            return true
        }
        if let changedMs = providerTokenChangedMs, now - changedMs < 20 * 60_000 { return false }
        providerToken = token
        providerTokenChangedMs = now
        return true
    }

    /// A valid push was seen: the connection may carry many at a time.
    func trust(withStreams streams: Int) {
        guard !isTrusted else { return }
        isTrusted = true
        http.session.submit(maxConcurrentStreams: streams)
    }
}

/// Gathers requests until they are complete.
private final class StandInRequests: HTTP2Events {
    var arrived: [(stream: Int32, request: ArrivedRequest)] = []
    var resets: [(stream: Int32, errorCode: UInt32)] = []
    private var partial: [Int32: ArrivedRequest] = [:]

    func sends(headersOf stream: Int32) {}

    func received(header name: String, _ value: String, neverIndexed: Bool, stream: Int32) {
        partial[stream, default: ArrivedRequest()].fields.append((name, value, neverIndexed))
    }

    func received(body bytes: UnsafeRawBufferPointer, stream: Int32) {
        partial[stream, default: ArrivedRequest()].append(bytes)
    }

    func ended(stream: Int32) {
        if let request = partial.removeValue(forKey: stream) { arrived.append((stream, request)) }
    }

    func closed(stream: Int32, errorCode: UInt32) {
        partial[stream] = nil
    }

    func received(resetOf stream: Int32, errorCode: UInt32) {
        resets.append((stream, errorCode))
    }

    func received(maxConcurrentStreams: Int) {}
    func received(goAwayAfter lastStream: Int32, errorCode: UInt32, reason: [UInt8]) {}
    func pingAcknowledged() {}
}
