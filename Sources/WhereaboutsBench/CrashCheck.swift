import Glibc
import Service
import Whereabouts

/// Judges what a crash left of a directory that ``AppendLoad`` wrote, by opening it as the service does.
///
/// Speaks with `scripts/faults/replay`: a line `check DIR COUNT` comes in, DIR.acks holds COUNT lines or more, and `ok` or
/// `fail WHY` goes out.
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

    /// `nil` when everything acknowledged is there once and the log holds together; otherwise what is wrong.
    private static func judge(_ path: String, acknowledged count: Int) -> String? {
        do {
            let log = try EventLog.alone(in: try DataDirectory(path: path))
            defer { log.stop() }
            let verification = try log.verify { _, _ in }
            if let problem = verification.problem { return "damaged event \(problem.number): \(problem.sentence)" }
            if verification.events != log.head { return "gap \(verification.events) of \(log.head) events" }
            if verification.lostParts > 0 { return "keys-lost \(verification.lostParts) parts" }
            return try compare(log, try acknowledgements(path + ".acks", count))
        } catch { return "unopenable \(error)" }
    }

    private struct Name: Hashable {
        let device, number: Int
    }

    private static func acknowledgements(_ file: String, _ count: Int) throws -> [Name] {
        guard let bytes = DataDirectory.read(file, atMost: 1 << 30) else {
            throw LogError.file(path: file, errno: errno)
        }
        let lines = bytes.split(separator: 10).prefix(count)
        guard lines.count == count else { throw CheckError.acknowledgements(lines.count, count) }
        return lines.compactMap { line in
            let words = line.split(separator: 32).compactMap { Int(String(decoding: $0, as: UTF8.self)) }
            return words.count == 2 ? Name(device: words[0], number: words[1]) : nil
        }
    }

    private static func compare(_ log: EventLog, _ acknowledged: [Name]) throws -> String? {
        let handles = log.withStanding { standing in
            standing.devices.mapValues { device in
                device.handle.flatMap { Int($0.text.dropFirst("device-".count)) } ?? -1
            }
        }
        var found: Set<Name> = []
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
                if !found.insert(Name(device: device, number: number)).inserted { return "twice \(place)" }
            }
        }
        for name in acknowledged where !found.contains(name) {
            return "lost fix \(name.number) of device \(name.device)"
        }
        return nil
    }
}

enum CheckError: Error { case acknowledgements(Int, Int) }
