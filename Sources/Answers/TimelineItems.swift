import Gazetteer
import Geodesy
package import Replies
package import Tables
package import Whereabouts
import WireFormats

// Visits, crossings and findings in reads, live streams and webhooks.

extension VisitItem {
    /// - Parameter placeName: The name that the reader sees.
    package init(_ visit: Visit, placeName: String?, _ context: AnswerContext) {
        self.init(visit, place: placeName, timeZone: context.timeZone(at: visit.coordinate))
    }
}

extension CrossingItem {
    package init(_ named: TimelineReader.NamedCrossing) {
        self.init(named.crossing, region: named.region, entered: named.entered)
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
