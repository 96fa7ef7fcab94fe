import Answers
import HTTPInterface
import HTTPServer
import Log
import Maintenance
import Projections
import Reactors
import Tables
import Whereabouts

/// Metrics for Prometheus: counts, times and queue lengths since the start. They contain no names, places or texts of
/// persons, and no label whose number of values callers can raise without bound.
///
/// Names follow Prometheus' conventions: the prefix `whereabouts_`, base units (seconds, bytes), and `_total` for
/// counters.
struct MetricsEndpoint: Sendable {
    let decisions: Decisions
    let host: ProjectionHost
    let answers: AnswerPool
    let requestFigures: RequestFigures
    /// `nil` if the operator allows no targets.
    let webhookDeliverer: WebhookDeliverer?
    /// `nil` unless witnesses are configured.
    let witnesses: WitnessRounds?
    /// `nil` unless events are shipped.
    let shipper: Shipper?
    /// The counters of the HTTP server; `nil` while nothing listens.
    let serverCounters: @Sendable () -> HTTPServerCounters?

    /// `GET /metrics`: the metrics in Prometheus' text format, for a token with the scope `operate`. Not recorded: it
    /// is about no person.
    ///
    /// Cost: some hundred lines of text; a look at each generation, webhook and open query.
    func read(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard exchange.caller.scopes.contains(.operate) else { throw .notFound }
        var text = MetricsText()
        Self.write(decisions.log, into: &text)
        if let identities = decisions.log.identities { Self.write(identities, into: &text) }
        Self.write(requestFigures.readers, isReader: decisions.log.isFollowed, into: &text)
        Self.write(
            requestFigures.shards, witnessed: decisions.log.withStanding { $0.places.witnessed }, into: &text)
        Self.write(host, head: decisions.log.head, into: &text)
        Self.writeQuestions(decisions.log, into: &text)
        writeWebhooks(into: &text)
        if let witnesses {
            text.gauge(
                "whereabouts_witness_contested_logs",
                "Persons' logs that a witness refuses, because it has cosigned another history; summed over the witnesses.",
                [([:], Double(witnesses.contested))])
        }
        if let shipper { Self.write(shipper, into: &text) }
        writeRequests(into: &text)
        Self.writeProcess(into: &text)
        return HTTPResponse(
            status: 200, headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8")],
            body: Array(text.text.utf8))
    }

    /// Counts, queue and commit times of the log, and its faults.
    ///
    /// Counters start at 0 with the process, as Prometheus expects.
    private static func write(_ log: EventLog, into text: inout MetricsText) {
        let tally = log.appended
        text.counter(
            "whereabouts_events_total", "Events appended since the start.",
            EventKind.allCases.lazy.filter { tally.kinds[Int($0.rawValue)] > 0 }.map {
                (["kind": $0.name], Double(tally.kinds[Int($0.rawValue)]))
            })
        text.counter(
            "whereabouts_reports_rejected_total", "Reports that were kept as rejected, by reason.",
            RejectionReason.allCases.compactMap { reason in
                tally.rejections[reason].map { (["reason": reason.word], Double($0)) }
            })
        text.gauge("whereabouts_log_head", "Number of the newest durable event.", [([:], Double(log.head))])
        text.gauge(
            "whereabouts_log_failed", "1 when a fault stopped the log.", [([:], log.failure == nil ? 0 : 1)])
        text.gauge(
            "whereabouts_disk_full", "1 while the disk is full and reports are refused.",
            [([:], log.room?.isShort == true ? 1 : 0)])
        text.gauge(
            "whereabouts_standing_unsaved", "1 while the standing cannot be saved.",
            [([:], log.isStandingUnsaved ? 1 : 0)])
        text.gauge(
            "whereabouts_log_waiting_commands",
            "Commands that wait to be decided; from \(EventLog.queueBound) on callers are sent away.",
            [([:], Double(log.queueLength))])
        text.counter(
            "whereabouts_refusals_total", "Commands that were refused.",
            [([:], Double(log.refusedCommands))])
        text.histogram(
            "whereabouts_commit_seconds", "Time of a transaction of the log with its fsync.",
            [([:], log.commitDurations)])
    }

    /// The index that finds duplicate fixes: its lag, and whether it can be written.
    ///
    /// A lag that grows means that the disk of the index is slower than reports come.
    private static func write(_ identities: FixIdentities, into text: inout MetricsText) {
        text.gauge(
            "whereabouts_fix_identities_missing_events",
            "Events whose fixes are not in the index that finds duplicates; older fixes wait while it is above 0.",
            [([:], Double(identities.missing))])
        text.gauge(
            "whereabouts_fix_identities_failing", "1 while the index that finds duplicates cannot be written.",
            [([:], identities.trouble == nil ? 0 : 1)])
    }

    /// How far the target of shipping is behind the log. The count of events is absent until the target has been read.
    private static func write(_ shipper: Shipper, into text: inout MetricsText) {
        if let events = shipper.eventsBehind {
            text.gauge(
                "whereabouts_shipping_behind_events", "Durable events that are not shipped.", [([:], Double(events))])
        }
        text.gauge(
            "whereabouts_shipping_behind_seconds", "Age of the oldest event that is not shipped; 0 if there is none.",
            [([:], shipper.secondsBehind)])
        text.gauge(
            "whereabouts_shipping_failing", "1 while events cannot be shipped.", [([:], shipper.isFailing ? 1 : 0)])
    }

    /// The lag of every generation, active or not, and the faults by projection.
    private static func write(_ host: ProjectionHost, head: Int64, into text: inout MetricsText) {
        text.gauge(
            "whereabouts_projection_lag_events", "Events that a projection has not folded yet.",
            host.status.map { status in
                let generation = status.generation
                return (
                    [
                        "projection": generation.name, "version": "\(generation.version)",
                        "generation": "\(generation.generation)", "role": generation.role.rawValue,
                    ], Double(max(0, head - status.place))
                )
            })
        let failing = host.failing
        text.gauge(
            "whereabouts_projection_failing", "1 while a projection cannot be read or written.",
            ProjectionKind.all.map { (["projection": $0.name], failing.contains($0.name) ? 1 : 0) })
        let outdated = host.outdated
        text.gauge(
            "whereabouts_projection_outdated", "1 while a file of another version of the program answers.",
            ProjectionKind.all.map { (["projection": $0.name], outdated.contains($0.name) ? 1 : 0) })
        let check = host.selfCheck
        text.counter(
            "whereabouts_self_check_events_total", "Events that the background check has hashed again.",
            [([:], Double(check.events))])
        text.counter(
            "whereabouts_self_check_passes_total", "Passes of the background check over the whole log.",
            [([:], Double(check.passes))])
        text.gauge(
            "whereabouts_self_check_log_damaged", "1 after the background check found a changed event.",
            [([:], check.isLogDamaged ? 1 : 0)])
        text.counter(
            "whereabouts_self_check_refolds_total", "Projections whose rows did not give their fingerprint.",
            [([:], Double(check.refolds))])
    }

    /// Open and ended queries, and the pushes to APNs. Cost: one look at every person with an open query.
    private static func writeQuestions(_ log: EventLog, into text: inout MetricsText) {
        let tally = log.appended
        text.gauge(
            "whereabouts_location_queries_open", "Location queries under way.",
            [([:], Double(log.withStanding { $0.queries.open.values.reduce(0) { $0 + $1.count } }))])
        text.counter(
            "whereabouts_location_queries_ended_total", "Location queries that ended, by their end.",
            QueryEnd.allCases.compactMap { end in tally.queryEnds[end].map { (["end": end.word], Double($0)) } })
        text.histogram(
            "whereabouts_answer_seconds", "From a question to its answer by a fix.", [([:], tally.answerSeconds)])
        text.counter(
            "whereabouts_location_pushes_total",
            "Tries to wake a phone, by APNs' status; status \\\"none\\\" had no answer, \\\"withheld\\\" was not sent.",
            tally.pushEnds.sorted { $0.key < $1.key }.map { end, count in
                (["status": end.status, "reason": end.reason], Double(count))
            })
        text.histogram(
            "whereabouts_location_push_seconds", "Time of a push that APNs answered.", [([:], tally.pushSeconds)])
    }

    /// Webhooks, their dead letters and posts; absent unless the operator allows targets.
    private func writeWebhooks(into text: inout MetricsText) {
        guard let deliverer = webhookDeliverer else { return }
        let (count, stopped, letters) = decisions.log.withStanding { standing in
            let webhooks = standing.webhooks.all.values
            return (webhooks.count, webhooks.count { $0.isStopped }, webhooks.reduce(0) { $0 + $1.letters.count })
        }
        text.gauge("whereabouts_webhooks", "Webhooks of all persons.", [([:], Double(count))])
        text.gauge(
            "whereabouts_webhooks_stopped", "Webhooks whose receiver is gone or has too many dead letters.",
            [([:], Double(stopped))])
        text.gauge(
            "whereabouts_webhooks_retrying", "Webhooks whose present message was not taken yet.",
            [([:], Double(deliverer.troubled))])
        text.gauge("whereabouts_webhook_dead_letters", "Messages that were given up.", [([:], Double(letters))])
        text.counter(
            "whereabouts_webhook_posts_total", "Posts by how they ended: class of the status, or the fault.",
            deliverer.posts.sorted { $0.key < $1.key }.map { (["outcome": $0.key], Double($0.value)) })
    }

    /// Requests by route, and the connections; the latter are absent without a socket.
    ///
    /// Routes are labels by their pattern, for example `/v1/people/*/visits`, so handles never appear.
    private func writeRequests(into text: inout MetricsText) {
        text.histogram(
            "whereabouts_http_request_seconds", "Requests by route and status, and the time to their answer.",
            requestFigures.histograms.map { key, histogram in
                (["method": key.method, "route": key.path, "status": "\(key.status)"], histogram)
            })
        text.gauge(
            "whereabouts_answers_waiting",
            "Requests that wait for a thread; from \(AnswerPool.queueBound) on they are sent away.",
            [([:], Double(answers.queueLength))])
        guard let counters = serverCounters() else { return }
        text.gauge("whereabouts_http_connections", "Open connections.", [([:], Double(counters.connectionsOpen))])
        text.counter(
            "whereabouts_http_connections_total", "Connections accepted.", [([:], Double(counters.connectionsAccepted))]
        )
        text.counter(
            "whereabouts_http_cut_total",
            "Connections cut because a request, or the reading of its answer, took too long.",
            [([:], Double(counters.cutByDeadline))])
        text.counter(
            "whereabouts_http_bodies_too_long_total", "Requests refused because of their length.",
            [([:], Double(counters.bodiesTooLong))])
        text.counter(
            "whereabouts_http_received_bytes_total", "Bytes of bodies received.",
            [([:], Double(counters.bodyBytesReceived))])
        text.counter(
            "whereabouts_http_sent_bytes_total", "Bytes of bodies sent.", [([:], Double(counters.bodyBytesSent))])
    }

    /// Memory, processor time and descriptors, under the names that Prometheus' own clients use.
    private static func writeProcess(into text: inout MetricsText) {
        let process = ProcessFigures()
        text.gauge("process_resident_memory_bytes", "Resident memory.", [([:], process.residentBytes)])
        text.counter("process_cpu_seconds_total", "User and system time.", [([:], process.cpuSeconds)])
        text.gauge("process_open_fds", "Open file descriptors.", [([:], process.openFileDescriptors)])
    }
}
