import Glibc
import Log
import LogVerifying
import Maintenance
import Service
import Whereabouts

/// Checks a directory that ``AppendLoad`` wrote before a crash by opening it as the service does.
///
/// Speaks with `scripts/faults/replay`: a line `check DIR COUNT` comes in, DIR.acks holds COUNT lines or more, and `ok`
/// or `fail WHY` goes out.
enum CrashCheck {
    static func serve() {
        while let line = readLine() {
            let words = line.split(separator: " ")
            guard words.count == 3, words[0] == "check", let count = Int(words[2]) else {
                printLine(Array("fail not-a-question".utf8))
                continue
            }
            let trouble = judge(String(words[1]), acknowledged: count)
            printLine(Array((trouble.map { "fail \($0)" } ?? "ok").utf8))
        }
    }

    /// `nil` if every acknowledged fix is in the log once and the log is consistent; otherwise the fault.
    private static func judge(_ path: String, acknowledged count: Int) -> String? {
        do {
            guard let acknowledged = Acknowledgement.read(path + ".acks")?.prefix(count), acknowledged.count == count
            else { return "acknowledgements are missing" }
            let folded = try FoldedLog(in: try DataDirectory(path: path))
            defer { folded.stop() }
            let log = folded.log
            let verification = try log.verify { _, _ in }
            if let problem = verification.problem { return "damaged event \(problem.number): \(problem.sentence)" }
            if verification.events != log.head { return "gap \(verification.events) of \(log.head) events" }
            if verification.lostParts > 0 { return "keys-lost \(verification.lostParts) parts" }
            if let trouble = try compare(log, acknowledged) { return trouble }
            if let name = try folded.firstDifferentProjection() { return "projection \(name) is no refold" }
            guard log.waitForFixIdentities(milliseconds: 60_000) else { return "the index of fixes is not whole" }
            if let trouble = try log.differenceOfFixIdentities() { return "index of fixes: \(trouble)" }
            // The oldest are in files of the index, the newest in memory.
            return try sendAgain(Array(acknowledged.prefix(3) + acknowledged.suffix(3)), log)
        } catch { return "unopenable \(error)" }
    }

    private static func compare(_ log: EventLog, _ acknowledged: some Sequence<Acknowledgement>) throws -> String? {
        let handles = log.withStanding { standing in
            Dictionary(
                standing.devices.all.map { id, device in
                    (id, device.handle.flatMap { Int($0.text.dropFirst("device-".count)) } ?? -1)
                }, uniquingKeysWith: { first, _ in first })
        }
        var found: Set<Acknowledgement> = []
        let reader = try log.reader()
        var place: Int64 = 0
        while place < log.head {
            for (event, _) in try reader.events(after: place, limit: 4096) {
                if event.number != place + 1 { return "gap before \(event.number)" }
                place = event.number
                guard case .fixReported(let id, _, let part) = event.event else { continue }
                guard let fix = part.content, let device = handles[id] else { return "unreadable \(place)" }
                let number = Int(fix.timestamp.seconds(since: Fleet.start))
                if fix != Fleet.fix(device: device, number: number) { return "changed \(place)" }
                if !found.insert(Acknowledgement(device: device, number: number)).inserted { return "twice \(place)" }
            }
        }
        for line in acknowledged where !found.contains(line) {
            return "lost fix \(line.number) of device \(line.device)"
        }
        return nil
    }

    /// Sends acknowledged fixes again: the log must recognize them.
    private static func sendAgain(_ lines: some Sequence<Acknowledgement>, _ log: EventLog) throws -> String? {
        for line in lines {
            guard let caller = Fleet.deviceCaller(line.device, log) else { return "lost token of \(line.device)" }
            let fix = Fleet.fix(device: line.device, number: line.number)
            let receipt = try log.appendAndWait(
                .reportFixes(device: .caller, [.fix(fix, answering: nil)]), by: caller, correlation: .random())
            if receipt.reply != .fixes([.duplicate]) { return "forgotten \(line.number) of device \(line.device)" }
        }
        return nil
    }
}
