import JSON
package import Whereabouts

/// The messages of the OwnTracks apps in HTTP mode, `POST /owntracks`
/// (OwnTracks booklet, `tech/json` and `tech/http`; what the apps' sources do beyond it stands beside the code).
package enum OwnTracks {
    /// The body of an answer that has nothing to say: no friends, no commands. An app that cannot parse its answer
    /// ignores it; one that gets a 4xx throws its message away (iOS) or sends it for ever (Android).
    package static let answer: [UInt8] = Array("[]".utf8)

    /// Types that are known and tell of no fix.
    private static let otherTypes: Set<String> = [
        "transition", "waypoint", "waypoints", "lwt", "status", "steps", "beacon", "card", "cmd", "configuration",
        "request",
    ]

    /// Reads the body of one request: a message, or an array of them (the apps send none, the protocol allows it).
    ///
    /// Never fails: each message comes to one report, and an empty body, which the apps send when a friend is deleted,
    /// to none. A body beyond ``Limits/ingestBodyBytes`` and an array beyond ``Limits/batchCommands`` come to one
    /// `tooLarge`.
    ///
    /// - Parameter now: house time, against which a fix is in the future.
    package static func reports(from body: [UInt8], now: Timestamp) -> [Report] {
        guard body.count <= Limits.ingestBodyBytes else { return [.rejected(.tooLarge)] }
        let source: JSONSource
        do {
            source = try JSONSource(parsing: body[...])
        } catch {
            return error == .empty ? [] : [.rejected(.notJSON)]
        }
        guard let elements = source.elements else { return [report(of: source, now: now)] }
        guard elements.count <= Limits.batchCommands else { return [.rejected(.tooLarge)] }
        return elements.map { report(of: $0, now: now) }
    }

    private static func report(of source: JSONSource, now: Timestamp) -> Report {
        guard source.value.kind == .object else { return .rejected(.unknownType) }
        guard let type = source.value["_type"] else { return .rejected(.missingField) }
        switch type.string {
        case "location": return location(source.members ?? [], now: now)
        case "encrypted": return .rejected(.encryptedWithoutKey)
        case let type? where otherTypes.contains(type): return .notAFix(type: type)
        default: return .rejected(.unknownType)
        }
    }

    private static func location(_ members: [JSONSource.Member], now: Timestamp) -> Report {
        var draft = FixDraft()
        var remainder = Remainder()
        for member in members where !read(member.key, member.value, into: &draft) { remainder.append(member) }
        draft.remainder = remainder.text()

        if members.allSatisfy({ overlandKeys.contains($0.key) }) { draft.time = overlandTime(draft.time) }
        // The apps leave members out when they are zero, so that absent and zero mean the same.
        if (draft.horizontalAccuracy ?? 0) == 0 {
            if draft.latitude == 0 && draft.longitude == 0 { return .rejected(.noFix) }
            draft.horizontalAccuracy = nil
        }
        if draft.verticalAccuracy == 0 { draft.verticalAccuracy = nil }
        return draft.report(now: now)
    }

    private static func read(_ key: String, _ value: JSONValue, into draft: inout FixDraft) -> Bool {
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
            // Kilometers per hour; 3.6 is no exact binary fraction, 3600 is.
            draft.speed = draft.speed.map { $0 * 1000 / 3600 }
        case "cog": return value.readCourse(into: &draft.course)
        case "batt": return value.readBattery(full: 100, into: &draft.batteryLevel)
        case "_id": return value.readClientID(into: &draft.clientID)
        default: return false
        }
        return true
    }

    /// Seconds since 1970, a number or (in old files) a string.
    private static func time(_ value: JSONValue) -> ReportedTime {
        let seconds = value.double ?? value.string.flatMap { DecimalText.parse($0.utf8) }
        return seconds.flatMap(Timestamp.init(seconds:)).map(ReportedTime.at) ?? .unreadable
    }

    /// All members that Overland sends in its OwnTracks mode.
    private static let overlandKeys: Set<String> = ["_type", "lat", "lon", "tst", "acc", "batt", "topic"]

    /// Overland's OwnTracks mode counts from 2001-01-01 (`timeIntervalSinceReferenceDate` in its `GLManager.m`). Times
    /// between 2²⁹ and 2³⁰ s, 1987 to 2004, are older than every client and in that count 2018 to 2035.
    private static func overlandTime(_ time: ReportedTime) -> ReportedTime {
        guard case .at(let timestamp) = time, (1 << 29..<1 << 30).contains(timestamp.milliseconds / 1000) else {
            return time
        }
        return .at(timestamp.adding(seconds: 978_307_200))
    }
}
