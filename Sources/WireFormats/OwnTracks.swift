import Geodesy
import JSON
package import Whereabouts

/// The messages of the OwnTracks apps in HTTP mode, `POST /owntracks` (OwnTracks booklet, `tech/json` and `tech/http`;
/// comments in the code describe further behaviour of the apps' sources).
package enum OwnTracks {
    /// Decrypts the payload of an encrypted message; `nil` if it was encrypted with another key.
    package typealias Opener = (_ payload: String) -> [UInt8]?

    /// Reads the body of one request: a message, or an array of them (the apps send none, but the protocol allows it).
    ///
    /// Never fails: each message becomes one report, and each waypoint of a list too. An empty body, which the apps
    /// send when a friend is deleted, has none. A body beyond
    /// ``Limits/ingestBodyBytes``, or with more messages than ``Limits/batchCommands``, becomes one `tooLarge`.
    ///
    /// - Parameters:
    ///   - now: The time of the house, to find fixes in the future.
    ///   - open: Decrypts encrypted messages; `nil` without a key.
    package static func reports(from body: [UInt8], now: Timestamp, opening open: Opener? = nil) -> [Report] {
        guard body.count <= Limits.ingestBodyBytes else { return [.rejected(.tooLarge)] }
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONDocument.message(body[...])
        } catch {
            return error == .empty ? [] : [.rejected(.notJSON)]
        }
        guard let elements = root.array else { return bounded(reports(of: root, now, open)) }
        guard root.count <= Limits.batchCommands else { return [.rejected(.tooLarge)] }
        return bounded(elements.flatMap { element in reports(of: element, now, open).map { $0.about(element) } })
    }

    /// Reads the fields of a form, which clients send whose users write the body as a template, for example GPSLogger.
    /// The form is read like the same message in JSON with texts as values.
    ///
    /// - Parameter now: The time of the house, to find fixes in the future.
    package static func reports(ofForm fields: [(name: String, value: String)], now: Timestamp) -> [Report] {
        guard fields.count <= formFieldsMax else { return [.rejected(.tooLarge)] }
        var writer = JSONWriter()
        writer.beginObject()
        for (name, value) in fields { writer.field(name, value) }
        writer.endObject()
        // A rejected report keeps the form as it came.
        return reports(from: writer.bytes, now: now).map {
            if case .rejected(let reason, _) = $0 { .rejected(reason) } else { $0 }
        }
    }

    private static let formFieldsMax = 64

    private static func bounded(_ reports: [Report]) -> [Report] {
        reports.count <= Limits.batchCommands ? reports : [.rejected(.tooLarge)]
    }

    private static func reports(
        of message: JSONValue, _ now: Timestamp, _ open: Opener?, wasEncrypted: Bool = false
    ) -> [Report] {
        guard let members = message.membersInPlace else { return [.rejected(.unknownType)] }
        guard let type = message["_type"] else { return [.rejected(.missingField)] }
        switch type.string {
        case "location": return [location(message, members, wasEncrypted: wasEncrypted, now: now)]
        case "encrypted": return encrypted(message, now, open)
        case "transition": return [transition(message, now)]
        case "beacon": return [beacon(message, now)]
        case "waypoint": return [waypoint(message)]
        case "waypoints":
            return message["waypoints"]?.array.map(waypoints) ?? [.rejected(.missingField)]
        // The app's settings contain secrets, so only the fact of the message is kept.
        case "configuration": return [.message(type: "configuration", text: "{}")]
        case let type? where wordsOfTheirOwn.contains(type):
            return [.message(type, members.lazy.filter { $0.key != "_type" })]
        default: return [.rejected(.unknownType)]
        }
    }

    /// Message types that are kept as messages.
    private static let wordsOfTheirOwn: Set<String> = ["lwt", "status", "steps", "card", "cmd", "request", "dump"]

    // MARK: Messages

    private static func encrypted(_ message: JSONValue, _ now: Timestamp, _ open: Opener?) -> [Report] {
        guard let payload = message["data"]?.string else { return [.rejected(.missingField)] }
        guard let plain = open?(payload) else { return [.rejected(.encryptedWithoutKey)] }
        guard let opened = try? JSONDocument.message(plain[...]) else { return [.rejected(.notJSON)] }
        // A doubly encrypted message could not be read by anyone. A rejected report keeps the message as it came,
        // encrypted.
        return reports(of: opened, now, nil, wasEncrypted: true).map {
            if case .rejected(let reason, _) = $0 { .rejected(reason) } else { $0 }
        }
    }

    /// An entry or exit. The app sends the place in a separate `location`.
    private static func transition(_ message: JSONValue, _ now: Timestamp) -> Report {
        guard let event = message["event"] else { return .rejected(.missingField) }
        guard let word = event.string, ["enter", "leave"].contains(word) else { return .rejected(.badValue) }
        return (message["tst"].map(time) ?? .missing).report(now: now) { timestamp in
            // Without a name, the region's id or its creation time, which the apps use as an id.
            let named = [message["desc"]?.string, message["rid"]?.string].compactMap { $0 }.first { !$0.isEmpty }
            guard let region = named ?? message["wtst"]?.int.map({ "\($0)" }) else {
                return .rejected(.missingField)
            }
            return .sighting(
                .crossing(
                    CrossingReport(
                        timestamp: timestamp, region: String(region.prefix(Limits.regionNameCharacters)),
                        isEntry: word == "enter")))
        }
    }

    private static func beacon(_ message: JSONValue, _ now: Timestamp) -> Report {
        guard let uuid = message["uuid"], let major = message["major"], let minor = message["minor"] else {
            return .rejected(.missingField)
        }
        guard let uuid = uuid.string.flatMap({ Identifier128($0.lowercased()) }), let major = major.int,
            let minor = minor.int, (0...65_535).contains(major), (0...65_535).contains(minor)
        else { return .rejected(.badValue) }
        return (message["tst"].map(time) ?? .missing).report(now: now) { timestamp in
            .sighting(
                .beacon(
                    BeaconReport(
                        timestamp: timestamp, uuid: uuid, major: major, minor: minor,
                        proximity: message["prox"]?.int.flatMap { (0...3).contains($0) ? $0 : nil } ?? 0,
                        accuracy: message["acc"]?.double.flatMap(Sentinel.nonNegative),
                        rssi: message["rssi"]?.int.flatMap { (-200...100).contains($0) ? $0 : nil } ?? 0)))
        }
    }

    private static func waypoints(_ list: JSONArray) -> [Report] {
        list.prefix(Limits.batchCommands + 1).map { waypoint($0).about($0) }
    }

    /// A region; one outside the ranges of a coordinate is a deletion. A beacon, or a region without a radius, is kept
    /// as a message.
    private static func waypoint(_ message: JSONValue) -> Report {
        guard let members = message.membersInPlace else { return .rejected(.unknownType) }
        guard let description = message["desc"], let created = message["tst"] else { return .rejected(.missingField) }
        guard let text = description.string, !text.isEmpty else { return .rejected(.badValue) }
        // Some Android releases write milliseconds.
        let seconds = created.double.map { abs($0) < 1e11 ? $0 : $0 / 1000 }
        guard let time = seconds.flatMap(Timestamp.init(seconds:)) else { return .rejected(.badTimestamp) }
        let name = String(text.prefix(Limits.regionNameCharacters))
        guard let latitude = message["lat"]?.double, let longitude = message["lon"]?.double else {
            return .message("waypoint", members.lazy.filter { $0.key != "_type" })
        }
        guard
            let center = try? Coordinate(latitude: latitude.positiveZero, longitude: longitude.positiveZero)
        else {
            return .waypoint(Waypoint(created: time, name: name, circle: nil))
        }
        guard let radius = message["rad"]?.double, let circle = try? Circle(center: center, radiusMeters: radius) else {
            return .message("waypoint", members.lazy.filter { $0.key != "_type" })
        }
        return .waypoint(Waypoint(created: time, name: name, circle: circle))
    }

    /// Whether the app marks the fix as its answer to `reportLocation`. The fix may be older than the command: it is
    /// the location that the phone had at that time.
    package static func isAnswer(_ fix: Fix) -> Bool {
        guard let remainder = fix.remainder, let document = try? JSONDocument.parse(Array(remainder.utf8)) else {
            return false
        }
        return document.root["t"]?.string == "r"
    }

    /// The subject of an app's `request`, from the text of the message.
    package static func request(_ text: String) -> String? {
        (try? JSONDocument.parse(Array(text.utf8)))?.root["request"]?.string
    }

    private static func location(
        _ message: JSONValue, _ members: JSONMembers, wasEncrypted: Bool, now: Timestamp
    ) -> Report {
        var draft = FixDraft()
        var remainder = Remainder()
        // The Recorder's mark for a decrypted message.
        if wasEncrypted, let mark = try? JSONDocument.message(Array(#"{"_decrypted":true}"#.utf8)[...]).membersInPlace {
            for member in mark { remainder.append(member) }
        }
        // The apps write numbers. Texts come from a template that a user of another client wrote, and none of these
        // clients has kilometers per hour (GPSLogger's `%SPD` is Android's `getSpeed()`).
        let isTemplate = message["lat"]?.kind == .string
        for member in members {
            let isRead =
                isTemplate
                ? readText(member.key, member.value, into: &draft) : read(member.key, member.value, into: &draft)
            if !isRead { remainder.append(member) }
        }
        draft.remainder = remainder.take()

        if members.allSatisfy({ isOfOverland($0.key) }) { draft.time = overlandTime(draft.time) }
        // The apps leave out members that are zero, so absent and zero mean the same.
        if (draft.horizontalAccuracy ?? 0) == 0 {
            if draft.latitude == 0 && draft.longitude == 0 { return .rejected(.noFix) }
            draft.horizontalAccuracy = nil
        }
        if draft.verticalAccuracy == 0 { draft.verticalAccuracy = nil }
        return draft.report(now: now)
    }

    private static func read(_ key: JSONKey, _ value: JSONValue, into draft: inout FixDraft) -> Bool {
        switch key {
        case "_type": return true
        case "lat": draft.latitude = value.double ?? .nan
        case "lon": draft.longitude = value.double ?? .nan
        case "tst": draft.time = time(value)
        case "acc": return value.read(into: &draft.horizontalAccuracy)
        case "alt": return value.read(into: &draft.altitude)
        case "vac": return value.read(into: &draft.verticalAccuracy)
        case "vel":
            guard value.readNonNegative(into: &draft.speed) else { return false }
            // Kilometers per hour; 3.6 is not an exact binary fraction, 3600 is.
            draft.speed = draft.speed.map { $0 * 1000 / 3600 }
        case "cog": return value.readCourse(into: &draft.course)
        case "batt": return value.readBattery(full: 100, into: &draft.batteryLevel)
        case "_id": return value.readClientID(into: &draft.clientID)
        default: return false
        }
        return true
    }

    /// As ``read(_:_:into:)``, for a template: numbers may be texts, and the speed is in meters per second.
    private static func readText(_ key: JSONKey, _ value: JSONValue, into draft: inout FixDraft) -> Bool {
        guard let number = value.double ?? value.string.flatMap({ DecimalText.parse($0.utf8) }) else {
            return read(key, value, into: &draft)
        }
        switch key {
        case "lat": draft.latitude = number
        case "lon": draft.longitude = number
        case "acc": draft.horizontalAccuracy = number
        case "alt": draft.altitude = number
        case "vac": draft.verticalAccuracy = number
        case "vel": draft.speed = Sentinel.nonNegative(number)
        case "cog":
            guard number <= 360 else { return false }
            draft.course = Sentinel.course(number)
        case "batt":
            guard number <= 100 else { return false }
            draft.batteryLevel = Sentinel.nonNegative(number / 100)
        default: return read(key, value, into: &draft)
        }
        return true
    }

    /// Seconds since 1970, a number or (in old files and templates) a string.
    private static func time(_ value: JSONValue) -> ReportedTime {
        let seconds = value.double ?? value.string.flatMap { DecimalText.parse($0.utf8) }
        return seconds.flatMap(Timestamp.init(seconds:)).map(ReportedTime.at) ?? .unreadable
    }

    /// The members that Overland sends in its OwnTracks mode.
    private static func isOfOverland(_ key: JSONKey) -> Bool {
        switch key {
        case "_type", "lat", "lon", "tst", "acc", "batt", "topic": true
        default: false
        }
    }

    /// The time of Overland's OwnTracks mode, which counts from 2001-01-01 (`timeIntervalSinceReferenceDate` in its
    /// `GLManager.m`). Times between 2²⁹ and 2³⁰ s would be 1987 to 2004, before any client existed; counted from 2001
    /// they are 2018 to 2035.
    private static func overlandTime(_ time: ReportedTime) -> ReportedTime {
        guard case .at(let timestamp) = time, (1 << 29..<1 << 30).contains(timestamp.milliseconds / 1000) else {
            return time
        }
        return .at(timestamp.adding(seconds: 978_307_200))
    }
}
