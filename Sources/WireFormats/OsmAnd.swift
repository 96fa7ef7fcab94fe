import JSON
package import Whereabouts

/// The messages of Traccar's clients and of OsmAnd, `GET` or `POST /osmand`, in all forms (Traccar,
/// `OsmAndProtocolDecoder` and its tests): parameters in the query or in a form, the newer client's JSON, and the arrays of
/// parameters as JSON of Traccar's client SDK (`HttpUploader.kt`).
///
/// One request has one message, or an array of them. ``deviceKey(in:)`` reads the device's key, which is not part of
/// the fix.
package enum OsmAnd {
    /// A parameter of the query or of a form, with its escapes decoded.
    package typealias Parameter = (name: String, value: String)

    /// The most parameters of one message; further ones are ignored.
    package static let parametersMax = 64

    // MARK: Parameters

    /// The first `id` or `deviceid`.
    package static func deviceKey(in parameters: [Parameter]) -> String? {
        parameters.first { isDeviceKey($0.name) }?.value
    }

    private static func isDeviceKey(_ name: String) -> Bool { name == "id" || name == "deviceid" }

    /// The report of the message; one without a position is a `status`.
    ///
    /// - Parameter now: The time of the house: of a fix without a time, and to find fixes in the future.
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
        // Android gives 0 for an unknown accuracy; OsmAnd and GPSLogger pass that on.
        if draft.horizontalAccuracy == 0, draft.latitude != 0 || draft.longitude != 0 { draft.horizontalAccuracy = nil }
        // The receiver says that the fix is invalid: it is kept, and nothing uses it.
        if !isValid { draft.horizontalAccuracy = -1 }
        var remainder = Remainder()
        for member in members(object(left)) { remainder.append(member) }
        draft.remainder = remainder.take()
        let report = draft.report(now: now)
        if case .rejected(let reason, _) = report { return .rejected(reason, text: object(parameters)) }
        return report
    }

    /// Whether OsmAnd itself sent this with its own template (`LiveSender.java`): a time in milliseconds, an `hdop` and
    /// no `accuracy`. Traccar's clients send seconds and an accuracy, in other units.
    private static func isOsmAnd(_ parameters: [Parameter]) -> Bool {
        func value(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
        guard let time = value("timestamp").flatMap({ DecimalText.parse($0.utf8) }), time >= 0x1p31 else {
            return false
        }
        return value("hdop") != nil && value("accuracy") == nil
    }

    /// OsmAnd's `hdop` is its accuracy in meters, and its `speed` is in meters per second.
    private static func readOsmAnd(_ name: String, _ value: String, into draft: inout FixDraft) -> Bool {
        switch name {
        case "hdop": keep(DecimalText.parse(value.utf8), in: &draft.horizontalAccuracy)
        case "speed": keep(DecimalText.parse(value.utf8).flatMap(Sentinel.nonNegative), in: &draft.speed)
        default: false
        }
    }

    /// Parameters as an object. A name that occurs several times, for example `wifi`, has a list of values.
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

    private static func members(_ object: [UInt8]) -> [JSONMember] {
        (try? JSONDocument.message(object[...]))?.membersInPlace.map { Array($0) } ?? []
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
            // Knots: 1852 m per hour.
            return keep(number.flatMap(Sentinel.nonNegative).map { $0 * 1852 / 3600 }, in: &draft.speed)
        case "speed_mps":
            // Not a name of Traccar's: for templates of clients that have meters per second only.
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

    /// Seconds if below 2³¹, otherwise milliseconds, or date and time as text.
    private static func time(_ text: String, _ number: Double?) -> ReportedTime {
        let time =
            if let number { Timestamp(seconds: number < 0x1p31 ? number : number / 1000) } else {
                ISO8601.parse(text)
            }
        return time.map(ReportedTime.at) ?? .unreadable
    }

    // MARK: JSON

    /// The member `device_id` of a JSON body or, for the SDK's array or object, `id` of the first element.
    package static func deviceKey(inJSON body: [UInt8]) -> String? {
        guard let root = (try? JSONDocument.parse(body))?.root else { return nil }
        if let first = root.array?.first(where: { _ in true }) { return first["id"]?.string }
        return root["device_id"]?.string ?? root["id"]?.string
    }

    /// The reports of the messages; one without a position is a `status`.
    ///
    /// Never fails: a client's object becomes one report, the SDK's array one report for each element, and more
    /// elements than ``Limits/batchCommands`` become one `tooLarge`.
    ///
    /// - Parameter now: The time of the house, to find fixes in the future.
    package static func reports(ofJSON body: [UInt8], now: Timestamp) -> [Report] {
        guard body.count <= Limits.ingestBodyBytes else { return [.rejected(.tooLarge, text: withoutKey)] }
        guard let root = try? JSONDocument.message(body[...]) else { return [.rejected(.notJSON)] }
        if let elements = root.array {
            guard root.count <= Limits.batchCommands else { return [.rejected(.tooLarge, text: withoutKey)] }
            // The first element's key authenticated the request, for one device.
            let key = elements.first { _ in true }?["id"]?.string
            return elements.map { flat($0, key: key, now: now) }
        }
        // The body also has the reporting key, which is never kept.
        guard let told = root["location"], told.kind == .object else {
            guard let key = root["id"]?.string else { return [.rejected(.unknownType, text: withoutKey)] }
            return [flat(root, key: key, now: now)]
        }
        return [located(told, now)]
    }

    /// The kept part of a body that may have the reporting key anywhere.
    private static let withoutKey = Array("{}".utf8)

    /// A flat object of the SDK, with the names of the parameters and numbers as values.
    private static func flat(_ told: JSONValue, key: String?, now: Timestamp) -> Report {
        guard let members = told.membersInPlace else { return .rejected(.unknownType, text: withoutKey) }
        guard told["id"]?.string == key else { return .rejected(.badValue, text: withoutKey) }
        return report(of: members.map { (name: $0.key.string, value: $0.value.parameter) }, now: now)
    }

    private static func located(_ told: JSONValue, _ now: Timestamp) -> Report {
        guard let location = told.membersInPlace else { return .rejected(.unknownType, text: withoutKey) }
        guard let coordinates = told["coords"]?.membersInPlace else { return .message("status", location) }
        var draft = FixDraft()
        var remainder = Remainder()
        // Parts come from several objects; the remainder has each name once.
        var names: Set<String> = []
        func keep(_ member: JSONMember) {
            if names.insert(member.key.string).inserted { remainder.append(member) }
        }
        for member in location {
            switch member.key {
            case "coords":
                for part in coordinates where !read(part.key, part.value, into: &draft) { keep(part) }
            case "battery":
                guard let parts = member.value.membersInPlace else {
                    keep(member)
                    continue
                }
                for part in parts {
                    if part.key == "level", part.value.readBattery(full: 1, into: &draft.batteryLevel) { continue }
                    keep(part)
                }
            case "timestamp":
                draft.time = member.value.dateTime.map(ReportedTime.at) ?? .unreadable
            case "uuid":
                if !member.value.readClientID(into: &draft.clientID) { keep(member) }
            case "mock":
                if !member.value.read(into: &draft.isSimulatedBySoftware) { keep(member) }
            default: keep(member)
            }
        }
        draft.remainder = remainder.take()
        return draft.report(now: now).about(told)
    }

    private static func read(_ key: JSONKey, _ value: JSONValue, into draft: inout FixDraft) -> Bool {
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
