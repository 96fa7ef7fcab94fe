import Answers
import AuditTables
import HTTPInterface
import HTTPServer
import Projections
import Replies
import Tables
import Whereabouts

extension ReadEndpoints {
    /// `GET /v1/people/*/findings`: patterns in how others ask about a person, for example many questions at night.
    /// Newest first, on one page.
    ///
    /// Derived for each read from the audit of the last `findingSeconds`; nothing is stored.
    ///
    /// May call: the person with the scope `audit`, and the operator. Recorded as a read of the audit. Nights are
    /// those of the time zone of the person's newest location, or of UTC without one.
    package func findings(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.read(exchange, context, .audit, from: AuditTable.name) { (reading) throws(Problem) in
            let (patterns, zone, asOf) = try views.patterns(about: reading.permit.subject, context)
            let names = PrincipalNames(decisions)
            let found = patterns.findings.sorted { $0.number > $1.number }
            return PageWriter.page(found, next: nil, asOf: asOf, reading.references) { finding in
                FindingItem(finding, timeZone: zone, names, reading.references)
            }
        }
    }
}
