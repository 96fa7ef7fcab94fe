import Gazetteer
package import Geodesy
package import Replies
package import Tables
package import Whereabouts

// Visits, crossings and findings in reads, live streams and webhooks.

extension VisitItem {
    /// - Parameter placeName: The name that the reader sees.
    package init(_ visit: Visit, placeName: String?, _ context: AnswerContext) {
        self.init(
            id: visit.id.hexadecimal, arrival: Moment(visit.arrival), departure: visit.departure.map { Moment($0) },
            at: MapPoint(visit.coordinate), horizontalAccuracy: visit.horizontalAccuracy, place: placeName,
            timeZone: context.timeZone(at: visit.coordinate), firstReported: Moment(visit.firstReported),
            departureReported: visit.departureReported.map { Moment($0) },
            isProvisional: visit.isProvisional ? true : nil)
    }
}

extension CrossingItem {
    package init(_ named: TimelineReader.NamedCrossing) {
        self.init(
            region: named.region, type: named.crossing.kind.word, time: Moment(named.crossing.time),
            reported: Moment(named.crossing.reported),
            dwellSeconds: named.entered.map { named.crossing.time.seconds(since: $0) })
    }
}

extension FindingItem {
    /// - Parameter timeZone: The IANA name of the zone that defines night; shown only for `nights`.
    package init(
        _ finding: AskPatterns.Finding, timeZone: String?, _ names: PrincipalNames, _ references: References
    ) {
        self.init(
            pattern: finding.pattern.word, requester: names.name(finding.requester), from: Moment(finding.from),
            to: Moment(finding.to), count: Int64(finding.count), number: references.event(finding.number),
            timeZone: finding.pattern == .nights ? timeZone : nil)
    }
}

extension UInt64 {
    /// The id of a visit or place as 16 hexadecimal digits.
    package var hexadecimal: String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}

extension Moment {
    package init(_ time: Timestamp) { self.init(milliseconds: time.milliseconds) }
}

extension MapPoint {
    package init(_ coordinate: Coordinate) {
        self = .degrees(latitude: coordinate.latitude, longitude: coordinate.longitude)
    }
}
