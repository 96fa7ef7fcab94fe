internal import JSON
package import LocationPush
package import PushStandIn
internal import Whereabouts
internal import WireFormats

/// One phone with the app on it and the app's location push extension. Belongs to one thread, which ``run(until:)``
/// occupies.
///
/// The app registers for location pushes and uploads the token (`PUT /v1/devices/{device}/location-push-token`). A push
/// wakes the extension (`didReceiveLocationPushPayload`), which finds a fix, reports it with the id of the query from
/// the payload's `query` (`POST /v1/fixes`) and completes when the service has acknowledged it.
package final class SimulatedPhone {
    /// Who the phone is.
    package struct Identity: Sendable {
        /// The handle.
        package let device: String
        package let reportingKey: String
        package let bundleID: String
        package let environment: LocationPush.PushEnvironment

        package init(
            device: String, reportingKey: String, bundleID: String, environment: LocationPush.PushEnvironment
        ) {
            (self.device, self.reportingKey) = (device, reportingKey)
            (self.bundleID, self.environment) = (bundleID, environment)
        }
    }

    /// The longest a turn waits for a push, and so how late an end is noticed, in milliseconds.
    private static let turnMs: Int64 = 250
    /// The wait before the courier is tried again, in milliseconds.
    private static let courierRetryMs: Int64 = 1_000

    private let identity: Identity
    private let track: Track
    private let diary: Diary
    private let clock: PushClock
    private let send: (ServiceRequest) -> ServiceReply
    private let makeCourier: () -> CourierClient
    private var courier: CourierClient
    private var isRegistered = false
    private var hasCourier = true
    private var courierNotBeforeMs = Int64.min
    private var outbox = Outbox()

    /// - Parameters:
    ///   - makeCourier: makes a line to the push stand-in that is not connected yet.
    ///   - send: brings a message to the service and waits for the answer.
    package init(
        _ identity: Identity, track: Track, diary: Diary, clock: PushClock = .system,
        makeCourier: @escaping () -> CourierClient, send: @escaping (ServiceRequest) -> ServiceReply
    ) {
        (self.identity, self.track, self.diary, self.clock) = (identity, track, diary, clock)
        (self.makeCourier, self.send) = (makeCourier, send)
        courier = makeCourier()
    }

    /// Lives until `isOver` says so, which is asked about four times a second.
    package func run(until isOver: () -> Bool) {
        while !isOver() { turn() }
        courier.disconnect()
    }

    private func turn() {
        deliver()
        let now = clock.now().monotonicMs
        let waitMs = min(Self.turnMs, outbox.waitMs(atMs: now) ?? Self.turnMs)
        guard now >= courierNotBeforeMs else {
            rest(ms: min(waitMs, courierNotBeforeMs - now))
            return
        }
        do throws(TransportFault) {
            if !isRegistered { try register() }
            if let push = try courier.nextPush(timeoutMs: waitMs) { wakeExtension(push) }
            hasCourier = true
        } catch {
            lose(error)
        }
    }

    private func register() throws(TransportFault) {
        let token = try courier.register(bundleID: identity.bundleID, environment: identity.environment)
        isRegistered = true
        let hex = token.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        note("registered") { $0.field("tokenEnd", String(hex.suffix(8))) }
        var body = JSONWriter()
        body.beginObject()
        body.field("hex", hex)
        body.field("environment", identity.environment.rawValue)
        body.field("bundleID", identity.bundleID)
        body.endObject()
        post(.token, method: "PUT", path: "/v1/devices/\(identity.device)/location-push-token", body: body.bytes)
    }

    private func lose(_ fault: TransportFault) {
        if hasCourier { note("courierLost") { $0.field("reason", fault.description) } }
        hasCourier = false
        // A stand-in that starts anew on another directory does not know the token: the phone registers again.
        if fault.description.contains("unknown token") {
            courier = makeCourier()
            isRegistered = false
        }
        courierNotBeforeMs = clock.now().monotonicMs + Self.courierRetryMs
    }

    private func wakeExtension(_ push: CourierPush) {
        let payload = try? JSONDocument.parse(push.payload).root
        let query = payload?["query"]?.string.flatMap { QueryID($0.lowercased()) }
        note("pushReceived") { line in
            line.field("apnsID", push.apnsID)
            line.field("topic", push.topic)
            line.field("priority", push.priority)
            line.field("query", query?.description)
        }
        guard push.topic == identity.bundleID + ".location-query" else {
            note("ignored") { $0.field("reason", "The topic is another app's.") }
            return
        }
        note("launched") { $0.field("query", query?.description) }
        let fix = track.fix(at: Timestamp(milliseconds: clock.now().unixMs))
        var body = JSONWriter()
        FixJSON.write(fix, answering: query, into: &body)
        post(.fix(answering: query), method: "POST", path: "/v1/fixes", body: body.bytes)
        deliver()
    }

    private func post(_ purpose: Outbox.Delivery.Purpose, method: String, path: String, body: [UInt8]) {
        let request = ServiceRequest(method: method, path: path, bearer: identity.reportingKey, body: body)
        if let dropped = outbox.add(purpose, request) { note("dropped") { Self.tell(dropped, in: &$0) } }
    }

    /// Sends what is due, until there is nothing or the service has to be left alone for a while.
    private func deliver() {
        while let request = outbox.due(atMs: clock.now().monotonicMs) {
            let reply = send(request)
            switch outbox.take(reply, atMs: clock.now().monotonicMs) {
            case .acknowledged(let delivery):
                tellAcknowledged(delivery, reply)
            case .refused(let delivery, let status):
                note("refused") { line in
                    Self.tell(delivery, in: &line)
                    line.field("status", status)
                }
            case .retry(let delivery, let afterMs):
                note("retrying") { line in
                    Self.tell(delivery, in: &line)
                    switch reply {
                    case .answer(let status, _): line.field("status", status)
                    case .nothing(let reason): line.field("reason", reason)
                    }
                    line.field("afterSeconds", milliseconds: afterMs)
                }
            }
        }
    }

    private func tellAcknowledged(_ delivery: Outbox.Delivery, _ reply: ServiceReply) {
        guard case .answer(let status, let body) = reply else { return }
        let said = try? JSONDocument.parse(body).root
        switch delivery.purpose {
        case .token:
            note("tokenUploaded") { line in
                line.field("status", status)
                line.field("number", said?["number"]?.int)
            }
        case .fix(let query):
            note("reported") { line in
                line.field("query", query?.description)
                line.field("status", status)
                line.field("attempts", delivery.attempts)
                line.field("new", said?["new"]?.int)
                line.field("duplicate", said?["duplicate"]?.int)
                line.field("number", said?["number"]?.int)
                if diary.tellsPlaces { line.field("fix", raw: delivery.request.body) }
            }
            note("completed") { $0.field("query", query?.description) }
        }
    }

    private static func tell(_ delivery: Outbox.Delivery, in line: inout JSONWriter) {
        switch delivery.purpose {
        case .token:
            line.field("message", "token")
        case .fix(let query):
            line.field("message", "fix")
            line.field("query", query?.description)
        }
    }

    private func note(_ event: StaticString, _ fields: (inout JSONWriter) -> Void) {
        diary.note(event, device: identity.device, fields)
    }
}
