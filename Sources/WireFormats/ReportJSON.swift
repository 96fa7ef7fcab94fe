package import JSON
package import Replies
package import Whereabouts

/// Reports that are not fixes: `POST /v1/reports`, one JSON object with a list of typed reports.
///
///     {"reports": [{"type": "authorization", "timestamp": 1767225600.5, "status": "authorizedAlways", "accuracy": "full"}]}
///
/// Each report has a `type` and a `timestamp`, the device's own time in Unix seconds or ISO 8601 text (``ISO8601``).
/// The other members depend on the type. Unknown members are ignored, so that a newer app can talk to an older service.
///
/// | type | members |
/// |---|---|
/// | `authorization` | `status`: a case of `CLAuthorizationStatus`; `accuracy` (optional): `full` or `reduced` |
/// | `heading` | `magneticHeading`, and `trueHeading`, `headingAccuracy` where known (negative: not known); degrees |
/// | `beacon` | `uuid`, `major`, `minor`, `proximity` (0 to 3 as in `CLProximity`), `rssi`, and `accuracy` where known; meters |
/// | `visit` | `latitude`, `longitude`, `horizontalAccuracy`; `arrival` and `departure` (times) where known |
/// | `crossing` | `region`: the app's name for it; `crossing`: `enter` or `exit` |
package enum ReportJSON {
    /// Reads a body. Never fails: each item becomes one report, in order.
    ///
    /// A body beyond
    /// ``Limits/ingestBodyBytes``, or with more items than ``Limits/batchCommands``, becomes one `tooLarge`.
    ///
    /// - Parameter now: The time of the house, to find reports in the future.
    package static func reports(from body: [UInt8], now: Timestamp) -> [Report] {
        guard body.count <= Limits.ingestBodyBytes else { return [.rejected(.tooLarge)] }
        guard let document = try? JSONDocument.parse(body) else { return [.rejected(.notJSON)] }
        guard let items = document.root["reports"]?.array else { return [.rejected(.unknownType)] }
        var reports: [Report] = []
        for item in items {
            guard reports.count < Limits.batchCommands else { return [.rejected(.tooLarge)] }
            reports.append(report(of: item, now: now))
        }
        return reports
    }

    private static func report(of item: JSONValue, now: Timestamp) -> Report {
        guard let type = item["type"]?.string else { return .rejected(.unknownType) }
        switch type {
        case "authorization":
            return dated(item, now) { timestamp in
                guard let word = item["status"] else { return .rejected(.missingField) }
                guard let status = word.string.flatMap(AuthorizationStatus.init(word:)) else {
                    return .rejected(.badValue)
                }
                var accuracy: AccuracyAuthorization?
                if let word = item["accuracy"], !word.isNull {
                    accuracy = word.string.flatMap(AccuracyAuthorization.init(word:))
                    if accuracy == nil { return .rejected(.badValue) }
                }
                return .authorization(AuthorizationReport(timestamp: timestamp, status: status, accuracy: accuracy))
            }
        default:
            guard let kind = Sighting.Kind.allCases.first(where: { $0.word == type }) else {
                return .rejected(.unknownType)
            }
            return dated(item, now) { sighting(kind, item, at: $0) }
        }
    }

    /// Reads a visit that an import has.
    package static func visit(_ item: JSONValue, now: Timestamp) -> Report {
        item.kind == .object ? dated(item, now) { sighting(.visit, item, at: $0) } : .rejected(.unknownType)
    }

    /// Every report has the device's time, within the same bounds as a fix.
    private static func dated(_ item: JSONValue, _ now: Timestamp, _ report: (Timestamp) -> Report) -> Report {
        let told = item["timestamp"].map { time($0).map(ReportedTime.at) ?? .unreadable } ?? .missing
        return told.report(now: now, report)
    }

    static func time(_ value: JSONValue) -> Timestamp? {
        if let seconds = value.double { return Timestamp(seconds: seconds) }
        return value.dateTime
    }
}

extension AuthorizationItem {
    /// The members that ``ReportJSON/reports(from:now:)`` reads of an authorization, without the type.
    package init(_ report: AuthorizationReport) {
        self.init(
            status: report.status.word, accuracy: report.accuracy?.word,
            timestamp: Moment(milliseconds: report.timestamp.milliseconds))
    }
}
