import Gazetteer
import Geodesy
import Glibc
import HTTPServer
import JSON
import Log
import Maintenance
import Reactors
import ReferenceSystems
import Replies
import Whereabouts
import WhereaboutsClient

/// `doctor`: checks everything that the service needs. Each line is the result of a check.
enum DoctorCommand {
    static let command = Command(
        words: ["doctor"],
        summary: "Check what the service needs: libraries, data, disk space, clock, TLS, push servers.",
        accepts: [Options.json],
        details: """
            Changes nothing. Connects to the servers that config.json names. The exit code is 1 if a check fails.
            """, reach: .files, run: run)

    struct Finding {
        enum State: String { case good, note, wrong }
        let check: String
        let state: State
        let details: String

        static func good(_ check: String, _ details: String) -> Finding {
            Finding(check: check, state: .good, details: details)
        }

        /// Information without a fault.
        static func note(_ check: String, _ details: String) -> Finding {
            Finding(check: check, state: .note, details: details)
        }

        static func wrong(_ check: String, _ details: String) -> Finding {
            Finding(check: check, state: .wrong, details: details)
        }
    }

    private static func run(_ invocation: Invocation) throws(ToolError) {
        let path = try House.path(of: invocation)
        let findings =
            libraries() + [geodesy(), gazetteer(), timeZones()] + directory(path) + [
                clock(path), clockKeeping(), service(path),
            ] + metrics(path)
        if invocation.has(Options.json) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.array("checks") { array in
                for finding in findings {
                    array.beginObject()
                    array.field("check", finding.check)
                    array.field("state", finding.state.rawValue)
                    array.field("details", finding.details)
                    array.endObject()
                }
            }
            writer.endObject()
            invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        } else {
            var table = Table("CHECK", "STATE", "DETAILS")
            for finding in findings {
                table.add(finding.check, finding.state == .wrong ? "WRONG" : finding.state.rawValue, finding.details)
            }
            invocation.console.result(table.text.utf8)
        }
        if findings.contains(where: { $0.state == .wrong }) { throw .checkFailed(nil) }
    }

    private static func libraries() -> [Finding] {
        Library.all.map { library in
            guard let version = library.version else {
                return .wrong(library.name, "not loaded, or its version is unknown")
            }
            return .good(library.name, version)
        }
    }

    /// A transformation needs PROJ's database, and the geoid's height its grid. Either package may be missing.
    private static func geodesy() -> Finding {
        do throws(GeodesyError) {
            // EPSG defines Web Mercator's origin at 0, 0.
            let origin = try CoordinateReferenceSystem(code: "EPSG:3857").toWGS84(0, 0)
            guard abs(origin.latitude) < 1e-9, abs(origin.longitude) < 1e-9 else {
                return .wrong("reference systems", "PROJ's database gives wrong results")
            }
            _ = try Geoid()
            return .good("reference systems", "PROJ's database and geoid grid are installed")
        } catch {
            return .wrong("reference systems", "\(error)")
        }
    }

    private static func gazetteer() -> Finding {
        do throws(ToolError) {
            let geocoder = try Geocoder()
            // geonames.org/2761369
            guard let vienna = try? Coordinate(latitude: 48.20849, longitude: 16.37208),
                geocoder.nearest(to: vienna)?.geonameID == 2_761_369
            else { return .wrong("gazetteer", "does not find Vienna: the file is damaged") }
            return .good("gazetteer", "\(Text.count(geocoder.gazetteer.placeCount)) places")
        } catch {
            return .wrong("gazetteer", error.description)
        }
    }

    private static func timeZones() -> Finding {
        // 2026-05-01T00:00:00Z, when Vienna has summer time.
        let text = LocalTime.text(Timestamp(milliseconds: 1_777_593_600_000), in: "Europe/Vienna")
        return text == "2026-05-01 02:00:00 CEST"
            ? .good("time zones", "rules are there")
            : .note("time zones", "no rules (package tzdata): places show UTC")
    }

    // MARK: The data directory

    private static func directory(_ path: String) -> [Finding] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return [.note("data directory", "\(path) does not exist yet")]
        }
        guard status.st_mode & S_IFMT == S_IFDIR, access(path, R_OK | W_OK | X_OK) == 0 else {
            return [.wrong("data directory", "\(path) is not a writable directory")]
        }
        var findings = [privacy(of: path, check: "data directory", else: path)]
        for file in ["kek", "keys.sqlite", "admin.token", "log.sqlite", "fix-identities"] {
            let full = path + "/" + file
            guard access(full, F_OK) == 0 else { continue }
            findings.append(privacy(of: full, check: file, else: "only its owner can read it"))
        }
        if let found = room(path) { findings.append(found) }
        findings += backups(path)
        do throws(ServiceConfiguration.ReadError) {
            let configuration = try ServiceConfiguration.read(path + "/config.json")
            findings +=
                database(configuration) + shards(configuration, path) + shipping(configuration)
                + pushKeys(configuration)
                + pushServers(configuration) + [front(configuration)]
        } catch {
            findings.append(.wrong("config.json", "\(error)"))
        }
        return findings
    }

    /// The known backups that are older than the newest erasure.
    private static func backups(_ path: String) -> [Finding] {
        do throws(LogError) {
            return try BackupList.beforeNewestErasure(in: path).map { backup in
                let what = "\(backup.folder) of \(LocalTime.text(backup.madeAt)) is older than the newest erasure"
                return backup.isSettled
                    ? .note("backup", "\(what); the keys of erased people are destroyed in it, but not in copies of it")
                    : .wrong(
                        "backup",
                        "\(what) and may still hold the keys of erased people: make it reachable and restart the service, or destroy its keys.sqlite"
                    )
            }
        } catch {
            return [.wrong("backup", "\(error)")]
        }
    }

    /// Whether the target of shipped events is there, as far as that shows without shipping.
    private static func shipping(_ configuration: ServiceConfiguration) -> [Finding] {
        switch configuration.shipping {
        case nil: []
        case .directory(let path):
            access(path, R_OK | W_OK | X_OK) == 0
                ? [.good("shipping", "\(path) is writable")]
                : [.wrong("shipping", "\(path): \(lastSystemError()); mount it, or make it as the service's user")]
        case .command(let words):
            access(words[0], X_OK) == 0
                ? [.good("shipping", "\(words[0]) can be run")]
                : [.wrong("shipping", "\(words[0]): \(lastSystemError()); install the program")]
        }
    }

    private static func privacy(of path: String, check: String, else details: String) -> Finding {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return .wrong(check, "\(path): \(lastSystemError())")
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            return .wrong(check, "mode \(mode): other users can access it; run chmod go= \(path)")
        }
        guard status.st_uid == geteuid() || geteuid() == 0 else {
            return .wrong(check, "\(path) belongs to another user")
        }
        return .good(check, details)
    }

    private static func pushKeys(_ configuration: ServiceConfiguration) -> [Finding] {
        if configuration.push.isEmpty {
            // The shards of a directory wake the phones.
            if configuration.sharding?.shards.isEmpty == false { return [] }
            return [.note("push", "config.json has no \"push\": phones cannot be woken")]
        }
        return configuration.push.map { push in
            guard access(push.keyFile, R_OK) == 0 else {
                return .wrong("push", "\(push.keyFile): \(lastSystemError())")
            }
            let apps = push.bundleIDs.joined(separator: ", ")
            return privacy(
                of: push.keyFile, check: "push", else: "\(apps) by \(push.host):\(push.port), the key exists")
        }
    }

    // MARK: Clock and service

    private static func clock(_ path: String) -> Finding {
        // The clock cannot be earlier than the time at which a file was built or written.
        let now = Timestamp.now.milliseconds / 1000
        for (file, what) in [
            ("/proc/self/exe", "the program was built"), (path + "/log.sqlite", "the log was written"),
        ] {
            var status = stat()
            if stat(file, &status) == 0, Int64(status.st_mtim.tv_sec) > now {
                return .wrong("clock", "\(what) in the clock's future: the clock is behind, or was set back")
            }
        }
        return .good("clock", LocalTime.text(.now))
    }

    private static func service(_ path: String) -> Finding {
        guard let running = DataDirectory.running(in: path) else {
            return .note("service", "no service runs on this directory")
        }
        guard let text = running.address, let transport = WireTransport("http://" + text) else {
            return .note("service", "process \(running.processID) uses the directory without listening")
        }
        do throws(ClientError) {
            let answer = try transport.answer(to: HTTPRequest(method: "GET", path: "/readyz"))
            let details = "process \(running.processID) at http://\(text)/"
            let body = try? JSONDocument.parse(answer.body).root
            guard answer.status == 200 else {
                let why = (try? body?.read(ProblemReply.self))?.detail.map { ": \($0)" } ?? ""
                return .wrong("service", details + ", which is not ready" + why)
            }
            let note = (try? body?.read(Readiness.self))?.note
            return note.map { .note("service", "\(details): \($0)") } ?? .good("service", details)
        } catch {
            return .wrong("service", ToolError(error).description)
        }
    }

    /// The findings in the metrics of the running service, for example about the index of fixes and the witnesses.
    private static func metrics(_ path: String) -> [Finding] {
        guard let running = DataDirectory.running(in: path), let text = running.address,
            let transport = WireTransport("http://" + text), let token = House.adminToken(of: path),
            let answer = try? transport.answer(
                to: HTTPRequest(method: "GET", path: "/metrics", headers: [("Authorization", "Bearer " + token)])),
            answer.status == 200
        else { return [] }
        let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
        func value(_ name: String) -> Int? {
            lines.first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) }.map { Int($0) }
        }
        return [
            value("whereabouts_fix_identities_missing_events").map(indexOfFixes),
            value("whereabouts_witness_contested_logs").map(witnesses),
            value("whereabouts_shipping_failing").map {
                shipped(
                    failing: $0, events: value("whereabouts_shipping_behind_events"),
                    seconds: value("whereabouts_shipping_behind_seconds") ?? 0)
            },
            value("whereabouts_self_check_log_damaged").map {
                logCheck($0, value("whereabouts_self_check_passes_total"))
            },
        ].compactMap { $0 }
    }

    /// Whether the service can look up every fix.
    private static func indexOfFixes(missing: Int) -> Finding {
        guard missing > 0 else { return .good("index of fixes", "covers the whole log") }
        return .note(
            "index of fixes",
            "is being made again, \(Text.count(missing)) events to go: until then older fixes wait, and devices send them again"
        )
    }

    /// Whether the events reach the place to which they are shipped.
    private static func shipped(failing: Int, events: Int?, seconds: Int) -> Finding {
        let behind = events.map { "\(Text.count($0)) \($0 == 1 ? "event" : "events")" } ?? "an unknown number of events"
        guard failing == 0 else {
            return .wrong(
                "shipped events",
                "not shipped: \(behind), the oldest for \(Text.count(seconds)) s; the diagnostics of the service say why"
            )
        }
        return events == 0
            ? .good("shipped events", "all events are shipped") : .note("shipped events", "on the way: \(behind)")
    }

    /// Whether the background check found a changed event.
    private static func logCheck(_ damaged: Int, _ passes: Int?) -> Finding {
        guard damaged == 0 else {
            return .wrong("background check", "an event of the log was changed; run whereabouts verify")
        }
        let passes = passes ?? 0
        return .good(
            "background check",
            passes == 0 ? "has found no damage so far" : "has found no damage; whole passes: \(Text.count(passes))")
    }

    /// Whether a witness has seen another history than the service shows.
    private static func witnesses(contested: Int) -> Finding {
        guard contested > 0 else { return .good("witnesses", "none has refused a log as another history") }
        return .wrong(
            "witnesses",
            "\(Text.count(contested)) logs of persons are refused: a witness has cosigned another history; run whereabouts verify"
        )
    }
}
