import Geodesy
package import JSON
package import Replies
package import Whereabouts

/// The service's own JSON form of a fix: `POST /v1/fixes`, the batches of an import and the lines of an export.
///
/// One object for each fix, or `{"fixes": [object, …]}`. Names and units are those of `CLLocation`:
///
///     {"timestamp": 1732147200.123, "latitude": 46.5, "longitude": 9.25, "horizontalAccuracy": 12.5,
///      "altitude": 410, "ellipsoidalAltitude": 457.5, "verticalAccuracy": 3, "floor": 0, "speed": 1.5,
///      "speedAccuracy": 0.3, "course": 277, "courseAccuracy": 11, "batteryLevel": 0.87,
///      "sourceInformation": {"isSimulatedBySoftware": false, "isProducedByAccessory": true},
///      "id": "3F2A", "receivedAt": 1732147201, "answering": "6b1c4f6e-…", "remainder": {"conn": "w"}}
///
/// `timestamp`, `latitude` and `longitude` are required. Times are Unix seconds (rounded to the millisecond) or ISO
/// 8601 text
/// (``ISO8601``). As in Core Location, a negative `horizontalAccuracy` marks the coordinate as invalid, a `verticalAccuracy`
/// of 0 or less marks both altitudes as invalid, and other negative values mean "unknown". Unknown members and values
/// of a wrong type go to the remainder.
package enum FixJSON {
    /// The most bytes of `id`; a longer one goes to the remainder.
    package static let clientIDBytes = 128

    /// Reads a body. Never fails: each fix becomes one report, in the order of the body.
    ///
    /// A body beyond
    /// ``Limits/ingestBodyBytes``, or with more fixes than ``Limits/batchCommands``, becomes one `tooLarge`. `receivedAt`
    /// is taken from the body; a route for live fixes drops it and uses its own clock.
    ///
    /// - Parameter now: The time of the house, to find fixes in the future.
    package static func reports(from body: [UInt8], now: Timestamp) -> [Report] {
        guard body.count <= Limits.ingestBodyBytes else { return [.rejected(.tooLarge)] }
        guard let root = try? JSONDocument.message(body[...]) else { return [.rejected(.notJSON)] }
        return reports(in: root, now: now)
    }

    /// Reads a parsed body, as ``reports(from:now:)``.
    ///
    /// - Parameter root: The outermost value of a document that keeps its text.
    package static func reports(in root: JSONValue, now: Timestamp) -> [Report] {
        guard let members = root.membersInPlace else { return [.rejected(.unknownType)] }
        guard let fixes = root["fixes"] else { return [report(of: members, now: now)] }
        guard let elements = fixes.array else { return [.rejected(.unknownType)] }
        guard fixes.count <= Limits.batchCommands else { return [.rejected(.tooLarge)] }
        var remainder = Remainder()
        return elements.map { report(of: $0, now: now, &remainder) }
    }

    /// One device's part of a batch of several devices.
    package struct DeviceBatch: Sendable {
        /// The values of the members `person` and `device`; `nil` unless they are texts.
        package let person, device: String?
        /// The fixes, then the visits; `nil` unless the member `fixes` is a list, and `visits` a list or absent.
        package let reports: [Report]?
        /// How many of the reports are of the member `visits`.
        package let visits: Int
        /// The part as written.
        package let text: [UInt8]
    }

    /// Reads `{"devices": [{"person": …, "device": …, "fixes": [fix, …], "visits": [visit, …]}, …]}`; `nil` if the body has
    /// no such list. `visits` may be left out; each has the members of a visit in ``ReportJSON``.
    ///
    /// - Parameters:
    ///   - root: The outermost value of a document that keeps its text.
    ///   - now: The time of the house, to find fixes in the future.
    package static func deviceBatches(in root: JSONValue, now: Timestamp) -> [DeviceBatch]? {
        root["devices"]?.array?.map { part in
            var remainder = Remainder()
            let fixes = part["fixes"]?.array?.map { report(of: $0, now: now, &remainder) }
            let listed = part["visits"].map { $0.array.map { Array($0) } } ?? []
            let visits = (listed ?? []).map { visit in ReportJSON.visit(visit, now: now).about(visit) }
            return DeviceBatch(
                person: part["person"]?.string, device: part["device"]?.string,
                reports: listed == nil ? nil : fixes.map { $0 + visits }, visits: visits.count, text: part.text)
        }
    }

    private static func report(of fix: JSONValue, now: Timestamp, _ remainder: inout Remainder) -> Report {
        fix.membersInPlace.map { report(of: $0, now: now, &remainder) } ?? .rejected(.unknownType)
    }

    static func report(of members: some Sequence<JSONMember>, now: Timestamp) -> Report {
        var remainder = Remainder()
        return report(of: members, now: now, &remainder)
    }

    private static func report(
        of members: some Sequence<JSONMember>, now: Timestamp, _ remainder: inout Remainder
    ) -> Report {
        var draft = FixDraft()
        for member in members where !read(member.key, member.value, into: &draft) { remainder.append(member) }
        draft.remainder = remainder.take(nestedKey: "remainder")
        return draft.report(now: now)
    }

    private static func read(_ key: JSONKey, _ value: JSONValue, into draft: inout FixDraft) -> Bool {
        switch key {
        case "timestamp": draft.time = time(value).map(ReportedTime.at) ?? .unreadable
        case "latitude": draft.latitude = value.double ?? .nan
        case "longitude": draft.longitude = value.double ?? .nan
        case "horizontalAccuracy": return value.read(into: &draft.horizontalAccuracy)
        case "altitude": return value.read(into: &draft.altitude)
        case "ellipsoidalAltitude": return value.read(into: &draft.ellipsoidalAltitude)
        case "verticalAccuracy": return value.read(into: &draft.verticalAccuracy)
        case "floor": return value.read(into: &draft.floor)
        case "speed": return value.readNonNegative(into: &draft.speed)
        case "speedAccuracy": return value.readNonNegative(into: &draft.speedAccuracy)
        case "course": return value.readCourse(into: &draft.course)
        case "courseAccuracy": return value.readNonNegative(into: &draft.courseAccuracy)
        case "batteryLevel": return value.readBattery(full: 1, into: &draft.batteryLevel)
        case "sourceInformation":
            guard value.kind == .object else { return value.isNull }
            return (value["isSimulatedBySoftware"]?.read(into: &draft.isSimulatedBySoftware) ?? true)
                && (value["isProducedByAccessory"]?.read(into: &draft.isProducedByAccessory) ?? true)
        case "id": return value.readClientID(into: &draft.clientID)
        case "receivedAt":
            draft.receivedAt = time(value)
            return draft.receivedAt != nil || value.isNull
        case "answering":
            // Devices write UUIDs in upper case (`UUID.uuidString`).
            draft.answering = value.string.flatMap { QueryID($0.lowercased()) }
            return draft.answering != nil || value.isNull
        default: return false
        }
        return true
    }

    private static func time(_ value: JSONValue) -> Timestamp? {
        if let seconds = value.double { return Timestamp(seconds: seconds) }
        return value.dateTime
    }

    /// Writes a fix as one object that ``reports(from:now:)`` reads back equal in every bit.
    ///
    /// - Precondition: numbers are finite and the remainder is a JSON object, as in every fix that has been parsed.
    package static func write(_ fix: Fix, answering: QueryID? = nil, into writer: inout JSONWriter) {
        writer.value(FixItem(fix, answering: answering))
    }
}

extension FixItem {
    /// - Parameter answering: The location query that the fix answers.
    package init(_ fix: Fix, answering: QueryID? = nil) {
        self.init(
            id: fix.clientID, timestamp: Moment(milliseconds: fix.timestamp.milliseconds),
            at: .degrees(latitude: fix.coordinate.latitude, longitude: fix.coordinate.longitude),
            horizontalAccuracy: fix.horizontalAccuracy, altitude: fix.altitude,
            ellipsoidalAltitude: fix.ellipsoidalAltitude, verticalAccuracy: fix.verticalAccuracy, floor: fix.floor,
            speed: fix.speed, speedAccuracy: fix.speedAccuracy, course: fix.course,
            courseAccuracy: fix.courseAccuracy, batteryLevel: fix.batteryLevel,
            receivedAt: fix.receivedAt.map { Moment(milliseconds: $0.milliseconds) },
            answering: answering?.description, remainder: fix.remainder.map { ForeignJSON($0) })
        if fix.isSimulatedBySoftware != nil || fix.isProducedByAccessory != nil {
            sourceInformation = SourceInformationItem(
                isSimulatedBySoftware: fix.isSimulatedBySoftware, isProducedByAccessory: fix.isProducedByAccessory)
        }
    }
}
