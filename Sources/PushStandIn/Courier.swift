internal import JSON
internal import LocationPush

/// Plays the system's push daemon for simulated phones: gives them device tokens and hands them their pushes.
/// Belongs to the stand-in's thread.
///
/// The protocol is lines of JSON over TCP, at most 64 KiB each. A phone says
///
///     {"register":{"bundleID":"org.example.app","environment":"development"}}    → {"token":"<hex>"}
///     {"resume":{"token":"<hex>"}}                                               → {"token":"<hex>"}
///     {"unregister":{}}                                                          → {"unregistered":1}
///
/// and gets `{"error":"…"}` for anything else. A test says, from any language,
///
///     {"script":[{"fault":"reset","errorCode":7,"times":20}]}                    → {"scripted":1}
///     {"clear":{}}                                                               → {"cleared":true}
///     {"count":{}}                       → {"connections":1,"pushes":40,"accepted":20,"resets":0}
///
/// (``PushStandInRule`` says what a script may hold). `unregister` ends all tokens attached to the connection. A push
/// comes as
///
///     {"push":{"apnsID":"…","topic":"…","priority":10,"expiration":1732147260,"payload":{…}}}
///
/// with `payload` last, byte for byte as sent but for line ends, which become spaces; `expiration` is missing when the
/// sender left it out.
struct Courier {
    /// Tokens one connection may attach.
    private static let tokensPerConnectionMax = 64
    /// How long APNs stores a push whose sender names no expiration: at most 30 days.
    private static let storedMsMax: Int64 = 30 * 86_400_000

    private struct Stored {
        let line: [UInt8]
        let expiresAtMs: Int64
    }

    /// Counts of the events on the push port.
    struct Counts {
        var connections = 0
        var pushes = 0
        /// Answered 200, or processed without an answer.
        var accepted = 0
        /// Streams that senders have reset.
        var resets = 0
    }

    private(set) var phones: PhoneRegistry
    var counts = Counts()
    /// The faults of the next pushes and connections.
    var script = FaultScript()
    private var connections: [Int: LineConnection] = [:]
    /// Which connection a token's phone is at.
    private var places: [String: Int] = [:]
    private var stored: [String: Stored] = [:]

    init(phones: PhoneRegistry) {
        self.phones = phones
    }

    var open: [Int: LineConnection] { connections }

    mutating func accept(_ connection: LineConnection, number: Int) {
        connections[number] = connection
    }

    /// Reads and executes a phone's commands.
    mutating func serve(_ number: Int, atUnixMs now: Int64) {
        guard let connection = connections[number] else { return }
        connection.flush()
        for line in connection.readLines() {
            do throws(TransportFault) {
                try obey(line, from: number, connection, atUnixMs: now)
            } catch {
                connection.write(line: Self.object { $0.field("error", error.description) })
            }
        }
    }

    /// Forgets the connections that have closed; their phones stay registered.
    mutating func dropClosed() {
        let closed = connections.filter { $0.value.isClosed }.keys
        guard !closed.isEmpty else { return }
        for number in closed { connections[number] = nil }
        places = places.filter { connections[$0.value] != nil }
    }

    mutating func close() {
        for connection in connections.values { connection.close() }
        dropClosed()
        phones.closeFile()
    }

    /// Hands a push to its phone, or keeps the newest one until the phone is there.
    mutating func deliver(_ push: CheckedPush, apnsID: String, atUnixMs now: Int64) {
        let payload = push.payload.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
        let line = Self.object { line in
            line.object("push") { line in
                line.field("apnsID", apnsID)
                line.field("topic", push.topic)
                line.field("priority", push.priority)
                line.field("expiration", push.expirationSeconds)
                line.field("payload", raw: payload)
            }
        }
        if let place = places[push.token], let connection = connections[place], !connection.isClosed {
            connection.write(line: line)
            return
        }
        let untilMs = push.expirationSeconds.map { $0 > Int64.max / 1000 ? Int64.max : $0 * 1000 }
        let expiresAtMs = min(untilMs ?? Int64.max, now + Self.storedMsMax)
        if expiresAtMs > now { stored[push.token] = Stored(line: line, expiresAtMs: expiresAtMs) }
    }

    mutating func register(bundleID: String, environment: PushEnvironment) throws(TransportFault) -> String {
        try phones.register(bundleID: bundleID, environment: environment)
    }

    mutating func unregister(_ token: String, atUnixMs now: Int64) throws(TransportFault) {
        try phones.unregister(token, atMs: now)
        places[token] = nil
        stored[token] = nil
    }

    private mutating func obey(
        _ line: [UInt8], from number: Int, _ connection: LineConnection, atUnixMs now: Int64
    ) throws(TransportFault) {
        guard let said = try? JSONDocument.parse(line).root else { throw TransportFault("not JSON") }
        if let wish = said["register"] {
            guard let bundleID = wish["bundleID"]?.string, !bundleID.isEmpty,
                let environment = wish["environment"]?.string.flatMap(PushEnvironment.init(rawValue:))
            else { throw TransportFault("register needs bundleID and environment") }
            try checkRoom(at: number)
            let token = try phones.register(bundleID: bundleID, environment: environment)
            places[token] = number
            connection.write(line: Self.object { $0.field("token", token) })
        } else if let wish = said["resume"] {
            guard let token = wish["token"]?.string, let phone = phones[token], phone.unregisteredAtMs == nil else {
                throw TransportFault("unknown token")
            }
            try checkRoom(at: number)
            places[token] = number
            connection.write(line: Self.object { $0.field("token", token) })
            if let waiting = stored.removeValue(forKey: token), waiting.expiresAtMs > now {
                connection.write(line: waiting.line)
            }
        } else if said["unregister"] != nil {
            let tokens = places.filter { $0.value == number }.keys
            for token in tokens { try unregister(token, atUnixMs: now) }
            connection.write(line: Self.object { $0.field("unregistered", tokens.count) })
        } else if let rules = said["script"] {
            let added: [PushStandInRule]
            do throws(FaultScriptError) { added = try PushStandInRule.script(rules) } catch {
                throw TransportFault(error.description)
            }
            script.append(added)
            connection.write(line: Self.object { $0.field("scripted", added.count) })
        } else if said["clear"] != nil {
            script.clear()
            connection.write(line: Self.object { $0.field("cleared", true) })
        } else if said["count"] != nil {
            let counts = counts
            connection.write(
                line: Self.object {
                    $0.field("connections", counts.connections)
                    $0.field("pushes", counts.pushes)
                    $0.field("accepted", counts.accepted)
                    $0.field("resets", counts.resets)
                })
        } else {
            throw TransportFault("say register, resume, unregister, script, clear or count")
        }
    }

    private func checkRoom(at number: Int) throws(TransportFault) {
        if places.values.count(where: { $0 == number }) >= Self.tokensPerConnectionMax {
            throw TransportFault("too many tokens on one connection")
        }
    }

    private static func object(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var line = JSONWriter()
        line.beginObject()
        body(&line)
        line.endObject()
        return line.bytes
    }
}
