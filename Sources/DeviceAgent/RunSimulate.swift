internal import CoreLocation
internal import Foundation
internal import Glibc
internal import JSON
internal import Threading

/// `whereabouts simulate SCENARIO.json`: plays phones.
///
/// If the scenario names a `service`, it is played in real time until SIGINT or SIGTERM (``Scenario``). Each event
/// prints a JSON line; `--verbose` adds the fixes with their coordinates. While the service or the stand-in cannot be
/// reached, the phones try again without limit.
///
/// Otherwise the scenario is a closed world on simulated time, and the command starts a service and a stand-in for APNs
/// for it (``WorldScenario``). `--data DIR` keeps the service's data there, `--logs DIR` writes each phone's callback
/// log.
///
/// `--fidelity` prints the properties of the simulated system that Apple does not document, with the source of each.
///
/// - Returns: 0 after a signal, or if every question ended as expected; 1 if a question did not; 2 for wrong arguments;
///   3 for a scenario, key or track that cannot be used.
package func runSimulate(arguments: [String], host: WorldService.Start) -> Int32 {
    do {
        let arguments = try Arguments(
            arguments, options: ["--data", "--logs"], flags: ["--verbose", "--json", "--fidelity"])
        if arguments.flags.contains("--fidelity"), arguments.rest.isEmpty {
            printFidelity()
            return 0
        }
        guard let path = arguments.rest.first, arguments.rest.count == 1 else {
            throw UsageError("Name one scenario; \"whereabouts simulate --help\" tells how.")
        }
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let bytes = try readFile(path)
        let root: JSONValue
        do throws(JSONError) { root = try JSONDocument.parse(bytes).root } catch {
            throw ScenarioError("\(path): \(error)")
        }
        let diary =
            arguments.flags.contains("--verbose") || root["service"] != nil
            ? Diary(tellsPlaces: arguments.flags.contains("--verbose")) { write($0, toDescriptor: 1) } : nil
        guard root["service"] == nil, root["devices"] == nil else {
            let scenario = try Scenario(json: bytes, directory: directory)
            let end = EndSignal()
            let simulation = try Simulation(scenario, diary: diary ?? Diary { _ in })
            end.wait()
            simulation.stop()
            return 0
        }
        return try play(
            try WorldScenario(root, directory: directory, now: Date()), arguments, host: host, diary: diary)
    } catch let error as UsageError {
        complain("whereabouts: \(error.description)")
        return 2
    } catch {
        complain("whereabouts: \(error)")
        return 3
    }
}

private func play(
    _ scenario: WorldScenario, _ arguments: Arguments, host: WorldService.Start, diary: Diary?
) throws -> Int32 {
    let kept = arguments.values["--data"]
    let folder = try kept ?? makeTemporaryFolder()
    if kept != nil {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        guard try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty else {
            throw ScenarioError("\(folder) is not empty: a world begins with a directory of its own.")
        }
    }
    defer { if kept == nil { try? FileManager.default.removeItem(atPath: folder) } }
    signal(SIGPIPE, SIG_IGN)
    let begin = MonotonicClock.milliseconds
    let world = try World(scenario, folder: folder, start: host, diary: diary)
    defer { world.stop() }
    let isTerminal = isatty(2) == 1
    try world.play { part in
        if isTerminal { write(Array("\r\u{1B}[K\(Int(part * 100)) %".utf8), toDescriptor: 2) }
    }
    if isTerminal { write(Array("\r\u{1B}[K".utf8), toDescriptor: 2) }
    if let logs = arguments.values["--logs"] {
        try FileManager.default.createDirectory(atPath: logs, withIntermediateDirectories: true)
        for (person, log) in world.callbackLogs {
            try Data(log.text.utf8).write(to: URL(fileURLWithPath: "\(logs)/\(person).log"))
        }
    }
    let summary = world.summary
    let seconds = Double(MonotonicClock.milliseconds - begin) / 1000
    write(
        arguments.flags.contains("--json")
            ? summary.jsonLines(scenario, seconds: seconds) : summary.text(scenario, seconds: seconds),
        toDescriptor: 1)
    return summary.unexpected == 0 ? 0 : 1
}

private func printFidelity() {
    let lines = SimulationProfile.iOS18.fidelity
    let width = lines.map(\.name.count).max() ?? 0
    var text = ""
    for line in lines {
        let name = line.name + String(repeating: " ", count: width - line.name.count)
        text += "\(line.source.rawValue)  \(name)  \(line.value)\n"
    }
    text += """

        D  Apple's documentation gives it, as typical or in passing
        F  reported in forums and articles
        M  from memory of those who use it, unverified
        P  decided by this project, because nobody gives a number

        """
    write(Array(text.utf8), toDescriptor: 1)
}

extension Summary {
    /// A line for each question and one for the whole.
    func jsonLines(_ scenario: WorldScenario, seconds: Double) -> [UInt8] {
        var bytes: [UInt8] = []
        func line(_ body: (inout JSONWriter) -> Void) {
            var writer = JSONWriter()
            writer.beginObject()
            body(&writer)
            writer.endObject()
            bytes += writer.bytes + [UInt8(ascii: "\n")]
        }
        for asked in self.asked {
            line { line in
                line.field("asker", asked.asker)
                line.field("person", asked.person)
                line.field("time", milliseconds: Int64((asked.at.timeIntervalSince1970 * 1000).rounded()))
                line.field("end", asked.end)
                line.field("expected", asked.isExpected)
                line.field("pushed", asked.wasPushed)
                line.field("seconds", asked.seconds)
            }
        }
        line { line in
            line.object("summary") { line in
                line.field("phones", phones)
                line.field("simulatedHours", scenario.hours)
                line.field("realSeconds", seconds)
                line.field("reported", reported)
                line.field("retried", retried)
                line.field("refused", refused)
                line.field("pushes", pushes)
                line.field("killed", killed)
                line.field("asked", self.asked.count)
                line.object("ends") { line in for (end, count) in ends { line.field(end, count) } }
                line.field("unexpected", unexpected)
                line.object("radioSeconds") { line in
                    for (service, use) in radioUse.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                        line.object(service.rawValue) { line in
                            line.field("gps", use.gpsSeconds)
                            line.field("wifi", use.wifiSeconds)
                            line.field("cellular", use.cellularSeconds)
                            line.field("bluetooth", use.bluetoothSeconds)
                        }
                    }
                }
            }
        }
        return bytes
    }

    func text(_ scenario: WorldScenario, seconds: Double) -> [UInt8] {
        func short(_ number: Double?) -> String { number.map { "\(($0 * 10).rounded() / 10) s" } ?? "-" }
        var rows: [(String, String)] = [
            ("phones", "\(phones), \(scenario.hours) simulated hours in \(short(seconds))"),
            ("messages", "\(reported) taken, \(retried) tries failed, \(refused) refused"),
            ("pushes", "\(pushes) reached a phone, \(killed) extensions were killed"),
            ("questions", "\(asked.count)"),
        ]
        for (end, count) in ends { rows.append(("  \(end)", "\(count)")) }
        rows.append(
            ("answered in", "\(short(self.seconds(within: 0.5))) median, \(short(self.seconds(within: 0.95))) 95 %"))
        rows.append(("unexpected", "\(unexpected)"))
        if !radioUse.isEmpty { rows.append(("receivers", "busy a phone for")) }
        for (service, use) in radioUse.sorted(by: { $0.value.totalSeconds < $1.value.totalSeconds }) {
            let parts = [
                ("GPS", use.gpsSeconds), ("Wi-Fi", use.wifiSeconds), ("cell", use.cellularSeconds),
                ("Bluetooth", use.bluetoothSeconds),
            ].filter { $0.1 > 0 }
            let text = parts.map { "\($0.0) \(short($0.1 / Double(phones)))" }.joined(separator: ", ")
            rows.append(("  \(service.rawValue)", text))
        }
        let width = rows.map(\.0.count).max() ?? 0
        return Array(
            rows.map { "\($0.0)\(String(repeating: " ", count: width - $0.0.count))  \($0.1)\n" }.joined().utf8)
    }
}
