import JSON
package import Whereabouts

/// Clients that send a fix as named values, with speeds in meters per second.
///
/// | dialect | what sends it | names |
/// |---|---|---|
/// | `phoneTrack` | PhoneTrack's app, `logGet` and `logPost` of its server (`LogController.php`) | `lat lon timestamp alt acc bat speed bearing` |
/// | `uLogger` | µlogger's app, `addpos` (`WebHelper.java`, ulogger-server `client/index.php`) | `lat lon time altitude accuracy battery speed bearing` |
/// | `homeAssistant` | GPSLogger and the companion app as Home Assistant takes them (`gpslogger` and `mobile_app`) | `latitude longitude accuracy battery speed direction` |
package enum ParameterDialect: Sendable {
    case phoneTrack, uLogger, homeAssistant

    /// The names of these values in ``OsmAnd``.
    private var names: [String: String] {
        switch self {
        case .phoneTrack: ["alt": "altitude", "acc": "accuracy", "bat": "batt", "speed": "speed_mps"]
        case .uLogger: ["time": "timestamp", "battery": "batt", "speed": "speed_mps"]
        case .homeAssistant:
            [
                "latitude": "lat", "longitude": "lon", "gps_accuracy": "accuracy", "battery": "batt",
                "speed": "speed_mps", "direction": "bearing", "course": "bearing",
                "vertical_accuracy": "altitude_accuracy",
            ]
        }
    }

    /// The report of a message; one without a position is a `status`.
    ///
    /// - Parameter now: The time of the house: of a fix without a time, and to find fixes in the future.
    package func report(of parameters: [OsmAnd.Parameter], now: Timestamp) -> Report {
        // The clients write an empty value if they do not know it.
        let renamed = parameters.filter { !$0.value.isEmpty }.map { (name: names[$0.name] ?? $0.name, value: $0.value) }
        return OsmAnd.report(of: renamed, now: now)
    }
}

/// PhoneTrack's batches, `logPostMultiple` of its server: `{"points": [[lat, lon, timestamp, alt, acc, bat, sat, useragent,
/// speed, bearing], …]}`, numbers or texts.
package enum PhoneTrack {
    private static let places = [
        "lat", "lon", "timestamp", "alt", "acc", "bat", "sat", "useragent", "speed", "bearing",
    ]

    /// The report of each point, in order. Never fails; more points than
    /// ``Limits/batchCommands`` become one `tooLarge`.
    ///
    /// - Parameter now: The time of the house, to find fixes in the future.
    package static func reports(ofPoints body: [UInt8], now: Timestamp) -> [Report] {
        guard body.count <= Limits.ingestBodyBytes else { return [.rejected(.tooLarge)] }
        guard let root = try? JSONDocument.message(body[...]) else { return [.rejected(.notJSON)] }
        guard let list = root["points"], let points = list.array else { return [.rejected(.unknownType)] }
        guard list.count <= Limits.batchCommands else { return [.rejected(.tooLarge)] }
        return points.map { point in
            guard let values = point.array else { return .rejected(.unknownType, text: point.text) }
            let parameters = zip(places, values).filter { !$1.isNull }.map { name, value in
                (name: name, value: value.parameter)
            }
            return ParameterDialect.phoneTrack.report(of: parameters, now: now).about(point)
        }
    }
}

/// The messages of Home Assistant's companion app to its webhook: `{"type": "update_location", "data": {"gps": [46.5,
/// 9.25], "gps_accuracy": 5, …}}` (home-assistant/core, `mobile_app/webhook.py`).
package enum HomeAssistant {
    /// The report of the message; `nil` for one without a place, for example the states of sensors, which is not kept.
    ///
    /// - Parameter now: The time of the house, which becomes the fix's: the app sends none.
    package static func report(from body: [UInt8], now: Timestamp) -> Report? {
        guard body.count <= Limits.ingestBodyBytes else { return .rejected(.tooLarge) }
        guard let root = try? JSONDocument.message(body[...]) else { return .rejected(.notJSON) }
        guard let type = root["type"]?.string else { return .rejected(.unknownType) }
        if type == "encrypted" || root["encrypted"]?.bool == true { return .rejected(.encryptedWithoutKey) }
        guard type == "update_location" else { return nil }
        guard let data = root["data"]?.members else { return .rejected(.missingField) }
        var parameters: [OsmAnd.Parameter] = []
        for member in data where !member.value.isNull {
            if member.key == "gps" {
                guard let place = member.value.array, member.value.count == 2 else { return .rejected(.badCoordinate) }
                for (name, number) in zip(["latitude", "longitude"], place) {
                    parameters.append((name, String(decoding: number.text, as: UTF8.self)))
                }
            } else {
                parameters.append((member.key, member.value.parameter))
            }
        }
        return ParameterDialect.homeAssistant.report(of: parameters, now: now)
    }
}

/// The texts of a `multipart/form-data` body (RFC 7578) up to its first file.
package enum MultipartTexts {
    /// - Parameters:
    ///   - body: May be cut off after the texts.
    ///   - contentType: The type with its boundary.
    /// - Returns: The texts; empty for another type, and for a body that does not begin with its boundary.
    package static func fields(of body: [UInt8], contentType: String) -> [OsmAnd.Parameter] {
        guard contentType.lowercased().hasPrefix("multipart/form-data"),
            let mark = contentType.firstRange(of: "boundary=")
        else { return [] }
        let boundary = contentType[mark.upperBound...].prefix { $0 != ";" }.filter { $0 != "\"" }
        guard (1...70).contains(boundary.utf8.count) else { return [] }
        let delimiter = Array("\r\n--\(boundary)".utf8)
        // The first delimiter is at the beginning, with or without a line break before it.
        var rest = Array("\r\n".utf8)[...] + body.drop { $0 == 0x0D || $0 == 0x0A }
        var fields: [OsmAnd.Parameter] = []
        while fields.count < OsmAnd.parametersMax, rest.starts(with: delimiter) {
            rest = rest.dropFirst(delimiter.count)
            guard let blank = rest.firstRange(of: Array("\r\n\r\n".utf8)) else { break }
            let head = String(decoding: rest[..<blank.lowerBound], as: UTF8.self)
            guard !head.contains("filename="), let name = name(in: head) else { break }
            rest = rest[blank.upperBound...]
            guard let end = rest.firstRange(of: delimiter) else { break }
            fields.append((name, String(decoding: rest[..<end.lowerBound], as: UTF8.self)))
            rest = rest[end.lowerBound...]
        }
        return fields
    }

    private static func name(in head: String) -> String? {
        guard let mark = head.firstRange(of: "name=\"") else { return nil }
        return String(head[mark.upperBound...].prefix { $0 != "\"" })
    }
}
