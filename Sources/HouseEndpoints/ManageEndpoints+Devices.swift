import Answers
import AuditTables
import HTTPInterface
import HTTPServer
import Log
import Projections
import Replies
import SQLite
import Tables
import Whereabouts
import WireFormats

/// The devices of a person with their state, to find out whether a phone reports.
extension ManageEndpoints {
    /// `GET /v1/people/*/devices`: the devices that are not removed, a recorded read. Each has its push token's
    /// presence, its authorization, its last contact and fix, and the reports rejected in the last
    /// `Limits.rejectionsShownSeconds`.
    ///
    /// May call: the person with the scope `manage`, and the operator. A restart forgets the times of contact; after
    /// it, `lastContact` is the time of the newest fix or rejected report.
    ///
    /// Cost: the newest fixes of the person, the rejected reports, and one read of the log for each of these.
    package func devices(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        try views.read(exchange, context, .settings, from: nil) { (reading) throws(Problem) in
            var page = try RowPage(exchange, reading.references)
            let states = DeviceStates(of: reading.permit.subject, now: reading.now, deviceContacts, context)
            let devices = decisions.log.withStanding { standing in
                (standing.persons[reading.permit.subject]?.devices ?? []).compactMap { id in
                    standing.devices[id].map { (id, $0) }
                }
            }
            for (id, device) in devices {
                guard !device.isRemoved, let handle = device.handle else { continue }
                var item = DeviceItem(handle: handle.text, pushToken: device.push.token != nil)
                item.sealed = device.isSealed ? true : nil
                item.authorization = device.authorization.map { AuthorizationItem($0.report) }
                states.add(to: &item, of: id)
                page.add(id.rawValue, item)
            }
            return page.ended(asOf: decisions.log.withStanding { $0.place })
        }
    }
}

/// The state of a person's devices: last contacts, fixes and rejected reports.
private struct DeviceStates {
    /// The last rejected report of a device.
    private struct Rejection {
        let report: RejectedReport
        /// The kept beginning of the input, if it can be opened.
        let input: RejectedInput?
    }

    /// The requests since the start of the process.
    private let deviceContacts: DeviceContacts
    /// The newest fix of each device; empty if the projection cannot be read.
    private let fixes: [DeviceID: ReportedFix]
    /// The rejected reports of each device in the last seven days, the newest first.
    private let rejections: [DeviceID: [Rejection]]

    /// A projection that cannot be read is left out: the list of devices must also work then.
    init(of person: PersonID, now: Timestamp, _ deviceContacts: DeviceContacts, _ context: AnswerContext) {
        self.deviceContacts = deviceContacts
        let newest = try? context.newestFixes(of: person)
        fixes = Dictionary((newest?.value ?? []).map { ($0.device, $0) }) { first, _ in first }
        let since = now.adding(seconds: -Limits.rejectionsShownSeconds)
        let rejected = try? context.read(AuditTable.name) { (connection) throws(SQLiteError) in
            try AuditReader.rejections(of: person, in: connection)
        }
        var rejections: [DeviceID: [Rejection]] = [:]
        for report in (rejected?.value ?? []).reversed() where report.recordedAt >= since {
            let found = (try? context.reader.event(report.number))?.event.event
            let input: RejectedInput? = if case .inputRejected(_, _, _, let part)? = found { part.content } else { nil }
            rejections[report.device, default: []].append(Rejection(report: report, input: input))
        }
        self.rejections = rejections
    }

    /// Adds the state of a device. `lastContact` is the latest of the last request, the receipt of the newest fix and the
    /// last rejected report.
    func add(to item: inout DeviceItem, of device: DeviceID) {
        let contact = deviceContacts.contact(of: device)
        let fix = fixes[device]?.fix
        let rejected = rejections[device] ?? []
        let heard = [contact?.at, fix?.receivedAt, rejected.first?.report.recordedAt].compactMap { $0 }.max()
        item.lastContact = heard.map { Moment($0) }
        item.lastFix = fix.map { Moment($0.timestamp) }
        item.battery = fix?.batteryLevel
        item.app = contact.map { AppItem(address: $0.address, userAgent: $0.userAgent) }
        item.wrongPasswords = deviceContacts.wrongPasswords(of: device).map {
            WrongPasswordsItem(count: Int64($0.count), newest: Moment($0.newestAt))
        }
        item.rejected = rejected.map { rejection in
            let reason = rejection.report.reason
            return RejectedReportItem(
                at: Moment(rejection.report.recordedAt), reason: reason.word, detail: reason.sentence,
                text: rejection.input?.text)
        }
    }
}
