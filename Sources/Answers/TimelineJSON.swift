import Gazetteer
import Geodesy
package import JSON
package import Tables
package import Whereabouts

/// The JSON forms of visits, crossings and findings, in reads, live streams and webhooks.
package enum TimelineJSON {
    /// Writes the members of a visit into an open object.
    package static func writeMembers(
        of visit: Visit, placeName: String?, _ context: AnswerContext, into writer: inout JSONWriter
    ) {
        writer.field("id", hex(visit.id))
        writer.field("arrival", milliseconds: visit.arrival.milliseconds)
        writer.key("departure")
        if let departure = visit.departure {
            writer.unixSeconds(milliseconds: departure.milliseconds)
        } else {
            writer.null()
        }
        writer.field("latitude", visit.coordinate.latitude)
        writer.field("longitude", visit.coordinate.longitude)
        writer.field("horizontalAccuracy", visit.horizontalAccuracy)
        writer.field("place", placeName)
        writer.field("timeZone", context.timeZone(at: visit.coordinate))
        writer.field("firstReported", milliseconds: visit.firstReported.milliseconds)
        writer.field("departureReported", milliseconds: visit.departureReported?.milliseconds)
        if visit.isProvisional { writer.field("provisional", true) }
    }

    /// Writes the members of a crossing into an open object.
    package static func writeMembers(of named: TimelineReader.NamedCrossing, into writer: inout JSONWriter) {
        writer.field("region", named.region)
        writer.field("type", named.crossing.kind.word)
        writer.field("time", milliseconds: named.crossing.time.milliseconds)
        writer.field("reported", milliseconds: named.crossing.reported.milliseconds)
        writer.field("dwellSeconds", named.entered.map { named.crossing.time.seconds(since: $0) })
    }

    /// Writes the members of a finding into an open object. A live stream sends the same members.
    ///
    /// - Parameter timeZone: The IANA name of the zone that defines night; written only for `nights`.
    package static func write(
        _ finding: AskPatterns.Finding, timeZone: String?, into writer: inout JSONWriter, _ names: PrincipalNames,
        _ references: References
    ) {
        writer.field("pattern", finding.pattern.word)
        writer.key("requester")
        if let name = names.name(finding.requester) { writer.value(name) } else { writer.null() }
        writer.field("from", milliseconds: finding.from.milliseconds)
        writer.field("to", milliseconds: finding.to.milliseconds)
        writer.field("count", finding.count)
        writer.field("number", references.event(finding.number))
        if finding.pattern == .nights { writer.field("timeZone", timeZone) }
    }

    /// A visit's id as 16 hexadecimal digits.
    package static func hex(_ id: UInt64) -> String {
        let text = String(id, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
