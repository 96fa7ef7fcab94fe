import JSON
package import Whereabouts

/// The messages of Traccar's clients and of OsmAnd, `GET` or `POST /osmand`, in all forms (Traccar,
/// `OsmAndProtocolDecoder` and its tests): parameters in the query or in a form, the newer client's JSON, and the arrays of
/// parameters as JSON of Traccar's client SDK (`HttpUploader.kt`).
///
/// One request holds one message, or an array of them. What identifies the device is read by ``deviceKey(in:)`` and is no part of the fix.
package enum OsmAnd {
    /// A parameter of the query or of a form, its escapes resolved.
    package typealias Parameter = (name: String, value: String)

    /// Most parameters of one message; further ones are passed over.
    package static let parametersMax = 64

    // MARK: Parameters

    /// The first `id` or `deviceid`.
    package static func deviceKey(in parameters: [Parameter]) -> String? {
        parameters.first { isDeviceKey($0.name) }?.value
    }

    private static func isDeviceKey(_ name: String) -> Bool { name == "id" || name == "deviceid" }

    /// What the message came to; one without a position is a `status`.
    ///
    /// - Parameter now: house time: the time of a fix that has none, and the one against which it is in the future.
    package static func report(of parameters: [Parameter], now: Timestamp) -> Report {
        let parameters = parameters.prefix(parametersMax).filter { !isDeviceKey($0.name) }
        guard parameters.contains(where: { ["lat", "lon", "location"].contains($0.name) }) else {
            return .message("status", members(object(parameters)))
        }
        var draft = FixDraft()
        draft.time = .at(now)
        var isValid = true
        var left: [Parameter] = []
        let isOsmAnd = isOsmAnd(parameters)
        for (name, value) in parameters {
            if isOsmAnd, readOsmAnd(name, value, into: &draft) { continue }
            if name == "valid" { isValid = value == "1" || value.lowercased() == "true" }
            if !read(name, value, into: &draft) { left.append((name, value)) }
        }
        // Android says 0 for an accuracy that it does not know; OsmAnd and GPSLogger pass that on.
        if draft.horizontalAccuracy == 0, draft.latitude != 0 || draft.longitude != 0 { draft.horizontalAccuracy = nil }
        // The receiver says so itself: kept, and used by nothing.
        if !isValid { draft.horizontalAccuracy = -1 }
        var remainder = Remainder()
        for member in members(object(left)) { remainder.append(member) }
        draft.remainder = remainder.text()
        let report = draft.report(now: now)
        if case .rejected = report { return report.about(object(parameters)[...]) }
        return report
    }

    /// Whether OsmAnd itself sent this by its own template (`LiveSender.java`): a time in milliseconds, an `hdop` and no
    /// `accuracy`. Clients of Traccar's send seconds and an accuracy; the units of OsmAnd are not theirs.
    private static func isOsmAnd(_ parameters: [Parameter]) -> Bool {
        func value(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
        guard let time = value("timestamp").flatMap({ DecimalText.parse($0.utf8) }), time >= 0x1p31 else {
            return false
        }
        return value("hdop") != nil && value("accuracy") == nil
    }

    /// OsmAnd calls its accuracy in meters `hdop`, and its `speed` is in meters a second.
    private static func readOsmAnd(_ name: String, _ value: String, into draft: inout FixDraft) -> Bool {
        switch name {
        case "hdop": keep(DecimalText.parse(value.utf8), in: &draft.horizontalAccuracy)
        case "speed": keep(DecimalText.parse(value.utf8).flatMap(Sentinel.nonNegative), in: &draft.speed)
        default: false
        }
    }

    /// Parameters as an object; a name that comes several times, as `wifi` does, has a list of values.
    private static func object(_ parameters: [Parameter]) -> [UInt8] {
        var values: [String: [String]] = [:]
        for (name, value) in parameters { values[name, default: []].append(value) }
        var writer = JSONWriter()
        writer.beginObject()
        for (name, _) in parameters {
            guard let all = values.removeValue(forKey: name) else { continue }
            if all.count == 1 {
                writer.field(name, all[0])
            } else {
                writer.array(name) { for text in all { $0.value(text) } }
            }
        }
        writer.endObject()
        return writer.bytes
    }

    private static func members(_ object: [UInt8]) -> [JSONSource.Member] {
        (try? JSONSource(parsing: object[...]))?.members ?? []
    }

    private static func read(_ name: String, _ value: String, into draft: inout FixDraft) -> Bool {
        let number = DecimalText.parse(value.utf8)
        switch name {
        case "lat": draft.latitude = number ?? .nan
        case "lon": draft.longitude = number ?? .nan
        case "location":
            let parts = value.split(separator: ",", omittingEmptySubsequences: false)
            draft.latitude = parts.count == 2 ? DecimalText.parse(parts[0].utf8) ?? .nan : .nan
            draft.longitude = parts.count == 2 ? DecimalText.parse(parts[1].utf8) ?? .nan : .nan
        case "timestamp": draft.time = time(value, number)
        case "accuracy": return keep(number, in: &draft.horizontalAccuracy)
        case "altitude": return keep(number, in: &draft.altitude)
        case "altitude_accuracy": return keep(number, in: &draft.verticalAccuracy)
        case "speed":
            // Knots: 1852 m an hour.
            return keep(number.flatMap(Sentinel.nonNegative).map { $0 * 1852 / 3600 }, in: &draft.speed)
        case "speed_mps":
            // Traccar has no such name: for templates of clients that know meters a second only.
            return keep(number.flatMap(Sentinel.nonNegative), in: &draft.speed)
        case "bearing", "heading":
            guard let number, number <= 360 else { return false }
            return keep(Sentinel.course(number), in: &draft.course)
        case "batt", "batproc":
            guard let number, number <= 100 else { return false }
            return keep(Sentinel.nonNegative(number / 100), in: &draft.batteryLevel)
        default: return false
        }
        return true
    }

    private static func keep(_ number: Double?, in field: inout Double?) -> Bool {
        guard let number else { return false }
        field = number
        return true
    }

    /// Seconds below 2³¹, else milliseconds, or date and time as text.
    private static func time(_ text: String, _ number: Double?) -> ReportedTime {
        let time =
            if let number { Timestamp(seconds: number < 0x1p31 ? number : number / 1000) } else {
                ISO8601.parse(text)
            }
        return time.map(ReportedTime.at) ?? .unreadable
    }

    // MARK: JSON

    /// The member `device_id` of a JSON body; of the SDK's array or object, `id` of the first.
    package static func deviceKey(inJSON body: [UInt8]) -> String? {
        guard let root = (try? JSONDocument.parse(body))?.root else { return nil }
        if let first = root.array?.first(where: { _ in true }) { return first["id"]?.string }
        return root["device_id"]?.string ?? root["id"]?.string
    }

    /// What the messages came to; one without a position is a `status`.
    ///
    /// Never fails: an object of the client comes to one report, the array of its SDK to one an element, and more elements
    /// than ``Limits/batchCommands`` to one `tooLarge`.
    ///
    /// - Parameter now: house time, against which a fix is in the future.
    package static func reports(ofJSON body: [UInt8], now: Timestamp) -> [Report] {
        guard body.count <= Limits.ingestBodyBytes else { return [.rejected(.tooLarge, text: withoutKey)] }
        guard let source = try? JSONSource(parsing: body[...]) else { return [.rejected(.notJSON)] }
        if let elements = source.elements {
            guard elements.count <= Limits.batchCommands else { return [.rejected(.tooLarge, text: withoutKey)] }
            // The first one's key opened the door, for one device.
            let key = elements.first?.value["id"]?.string
            return elements.map { flat($0, key: key, now: now) }
        }
        // Beside it stands the reporting key, which is kept nowhere.
        guard let told = source.members?.first(where: { $0.key == "location" })?.source, told.members != nil else {
            guard let key = source.value["id"]?.string else { return [.rejected(.unknownType, text: withoutKey)] }
            return [flat(source, key: key, now: now)]
        }
        return [located(told, now)]
    }

    /// What is kept of a body in which the reporting key may stand anywhere.
    private static let withoutKey = Array("{}".utf8)[...]

    /// A flat object of the SDK, whose members are the parameters' names with numbers for values.
    private static func flat(_ source: JSONSource, key: String?, now: Timestamp) -> Report {
        guard let members = source.members else { return .rejected(.unknownType, text: withoutKey) }
        guard source.value["id"]?.string == key else { return .rejected(.badValue, text: withoutKey) }
        return report(
            of: members.map { member in
                (name: member.key, value: member.value.string ?? String(decoding: member.source.text, as: UTF8.self))
            }, now: now)
    }

    private static func located(_ told: JSONSource, _ now: Timestamp) -> Report {
        let location = told.members ?? []
        guard location.contains(where: { $0.key == "coords" && $0.value.kind == .object }) else {
            return .message("status", location)
        }
        var draft = FixDraft()
        var remainder = Remainder()
        // Parts come from several objects: what one of them has said already is not said twice in the remainder.
        var names: Set<String> = []
        func keep(_ member: JSONSource.Member) {
            if names.insert(member.key).inserted { remainder.append(member) }
        }
        for member in location {
            switch member.key {
            case "coords":
                for part in member.source.members ?? [] where !read(part.key, part.value, into: &draft) {
                    keep(part)
                }
            case "battery":
                for part in member.source.members ?? [] {
                    if part.key == "level", part.value.readBattery(full: 1, into: &draft.batteryLevel) { continue }
                    keep(part)
                }
            case "timestamp":
                draft.time = member.value.string.flatMap { ISO8601.parse($0) }.map(ReportedTime.at) ?? .unreadable
            case "uuid":
                if !member.value.readClientID(into: &draft.clientID) { keep(member) }
            case "mock":
                if !member.value.read(into: &draft.isSimulatedBySoftware) { keep(member) }
            default: keep(member)
            }
        }
        draft.remainder = remainder.text()
        return draft.report(now: now).about(told.text)
    }

    private static func read(_ key: String, _ value: JSONValue, into draft: inout FixDraft) -> Bool {
        switch key {
        case "latitude": draft.latitude = value.double ?? .nan
        case "longitude": draft.longitude = value.double ?? .nan
        case "accuracy": return value.readNonNegative(into: &draft.horizontalAccuracy)
        case "altitude": return value.read(into: &draft.altitude)
        case "ellipsoidal_altitude": return value.read(into: &draft.ellipsoidalAltitude)
        case "altitude_accuracy": return value.read(into: &draft.verticalAccuracy)
        case "floor": return value.read(into: &draft.floor)
        case "speed": return value.readNonNegative(into: &draft.speed)
        case "speed_accuracy": return value.readNonNegative(into: &draft.speedAccuracy)
        case "heading": return value.readCourse(into: &draft.course)
        case "heading_accuracy": return value.readNonNegative(into: &draft.courseAccuracy)
        default: return false
        }
        return true
    }
}
