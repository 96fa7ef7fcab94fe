import HTTPInterface

extension MetricsEndpoint {
    /// What the process does as a reader: how far it is behind, and what it asks of the process that writes; or what it
    /// does for readers.
    static func write(_ readers: ReaderFigures, isReader: Bool, into text: inout MetricsText) {
        let counts = readers.counts
        guard isReader else {
            text.counter(
                "whereabouts_reads_recorded_for_readers_total",
                "Reads that readers sent: recorded, or passed back because the right or the data had changed.",
                [
                    (["outcome": "recorded"], Double(counts.recorded)),
                    (["outcome": "elsewhere"], Double(counts.elsewhere)),
                ])
            text.counter(
                "whereabouts_readers_refused_total",
                "Messages for readers' records that did not come from a reader of this house.",
                [([:], Double(counts.forged))])
            return
        }
        let state = readers.state
        text.gauge(
            "whereabouts_reader_behind_events",
            "Durable events that the reader does not have, by the last word of the process that writes the log.",
            [([:], Double(state.eventsBehind))])
        text.gauge(
            "whereabouts_reader_behind_seconds",
            "Time since the reader had every durable event that the process that writes the log knew of.",
            [([:], state.secondsBehind ?? .infinity)])
        text.gauge(
            "whereabouts_reader_writer_reachable", "1 while the process that writes the log answers.",
            [([:], state.isWriterReachable ? 1 : 0)])
        text.gauge(
            "whereabouts_reader_database_reachable", "1 while the reader can read the log in the database.",
            [([:], state.databaseTrouble == nil ? 1 : 0)])
        text.counter(
            "whereabouts_reader_reads_total",
            "Reads that the reader computed: recorded by the process that writes the log, passed on to it, or given up because it did not answer.",
            [
                (["outcome": "recorded"], Double(counts.recorded)),
                (["outcome": "elsewhere"], Double(counts.elsewhere)),
                (["outcome": "unrecorded"], Double(counts.unrecorded)),
            ])
        text.counter(
            "whereabouts_reader_passed_on_total", "Requests that were passed on, by whether an answer came.",
            [
                (["outcome": "answered"], Double(counts.passedOn)),
                (["outcome": "unanswered"], Double(counts.unanswered)),
            ])
    }
}
