import FileFormats
import JSON
import Log
import Replies
import Whereabouts
import WhereaboutsClient
import WireFormats

/// Posting batches, and counting the answers.
extension ImportRun {
    /// Posts the waiting reports, with as many devices in one request as fit.
    ///
    /// - Parameters:
    ///   - position: The position behind all of them.
    ///   - report: The counts up to there.
    mutating func postAll(at position: FilePosition, _ report: ImportReport) throws(ToolError) {
        var together: [(device: Handle, batch: PendingBatch)] = []
        var (fixes, bytes) = (0, 0)
        let pending = waiting.pending.sorted { $0.key < $1.key }
        (waiting.pending, waiting.fixes) = ([:], 0)
        for (device, batch) in pending {
            let (moreFixes, moreBytes) = (batch.count, batch.requestBytes)
            if !together.isEmpty,
                fixes + moreFixes > Limits.batchCommands || bytes + moreBytes > PendingBatch.bytesMax
            {
                try post(together, nil)
                (together, fixes, bytes) = ([], 0, 0)
            }
            together.append((device, batch))
            fixes += moreFixes
            bytes += moreBytes
        }
        let done = waiting.settings.isEmpty ? Done(position: position, report: report) : nil
        if !together.isEmpty { try post(together, done) }
    }

    /// Sends a request. If enough are under way, it first waits for the answer to the oldest.
    mutating func post(
        _ batches: [(device: Handle, batch: PendingBatch)], _ done: Done?
    ) throws(ToolError) {
        if !sending.hasBegun {
            if let person = choices.person {
                // A batch begins the import for any other person.
                try begin(person)
            } else {
                sending.hasBegun = true
                sayID()
            }
        }
        while sending.underWay.count >= Self.postsUnderWay { try settle() }
        var writer = JSONWriter(capacity: PendingBatch.bytesMax)
        writer.beginObject()
        writer.object("file") { Self.write(sending.file, into: &$0) }
        writer.array("devices") { devices in
            for (device, batch) in batches { batch.write(device, into: &devices) }
        }
        writer.endObject()
        let post = try client.begin(APIPath.importsBatches.parts(sending.id), json: writer.bytes)
        sending.underWay.append(Sent(post: post, batches: batches, done: done))
    }

    /// Waits for the answer to the oldest request, and counts the results.
    mutating func settle() throws(ToolError) {
        let sent = sending.underWay.removeFirst()
        // An import that has ended or was undone for one of its people takes no more; the file then begins another one.
        let answer = try client.finish(sent.post) { [place = sending.place] in
            if let place { ImportState.remove(place) }
        }
        let outcomes = try answer.read(ImportedBatch.self).devices
        guard outcomes.count == sent.batches.count else {
            throw .data("The service's answer has no result for a batch.")
        }
        for ((device, batch), outcome) in zip(sent.batches, outcomes) {
            var report = ImportReport(file: sending.answered.file, format: "")
            try take(outcome, of: batch, &report)
            sending.answered.add(report)
            var counts = sending.people[batch.person] ?? ImportCounts()
            counts.new += Int64(report.new + report.twins)
            counts.duplicate += Int64(report.duplicate)
            counts.visits += Int64(report.visits)
            counts.rejected += Int64(report.rejectedCount)
            sending.people[batch.person] = counts
            note(outcome, device, of: batch.person)
        }
        try save(sent.done)
    }

    /// Notes that a person or a device was added.
    private mutating func note(_ outcome: ImportedDevice, _ device: Handle, of person: Handle) {
        if outcome.addedPerson {
            if additions.count < Self.namedAdditions {
                additions.append("Added the person \(person.text).")
            } else {
                unnamedAdditions.people += 1
            }
        }
        if outcome.addedDevice {
            if additions.count < Self.namedAdditions {
                additions.append("Added the device \(device.text) of \(person.text).")
            } else {
                unnamedAdditions.devices += 1
            }
        }
    }

    /// Saves the progress of the import, unless it was saved just now.
    private mutating func save(_ done: Done?) throws(ToolError) {
        guard let done, let place = sending.place, let person = choices.person ?? sending.people.keys.min() else {
            return
        }
        if let last = sending.savedAt, last.duration(to: .now) < Self.saveInterval { return }
        sending.savedAt = .now
        var report = done.report
        report.add(sending.answered)
        let log = if let log = sending.log { log } else { try beginning(in: person).log }
        ImportState(id: sending.id, log: log, position: done.position, report: report, people: sending.people)
            .save(place)
    }

    private func take(
        _ outcome: ImportedDevice, of batch: PendingBatch, _ report: inout ImportReport
    ) throws(ToolError) {
        let (fixes, twins) = (outcome.fixes, outcome.fixes.twins ?? 0)
        report.new += Int(fixes.new - twins)
        report.duplicate += Int(fixes.duplicate)
        report.twins += Int(twins)
        let refused = Self.reject(fixes, lines: batch.fixes.map(\.line), &report)
        for (index, fix) in batch.fixes.enumerated() where !refused.contains(index) {
            report.cover(fix.time, fix.place)
        }
        guard !batch.visitLines.isEmpty else { return }
        guard let visits = outcome.visits else {
            throw .data("The service's answer has no result for the visits; it may be older than this tool.")
        }
        report.visits += Int(visits.new)
        report.knownVisits += Int(visits.duplicate)
        _ = Self.reject(visits, lines: batch.visitLines, &report)
    }

    /// Counts the rejected entries, and returns their indexes.
    private static func reject(_ outcome: ReportOutcome, lines: [Int], _ report: inout ImportReport) -> Set<Int> {
        var refused: Set<Int> = []
        for rejection in outcome.rejected {
            let index = Int(rejection.index)
            guard lines.indices.contains(index) else { continue }
            refused.insert(index)
            report.reject(rejection.reason, line: lines[index])
        }
        return refused
    }
}
