import Glibc
import JSON
import Service
import Whereabouts
import WhereaboutsClient

/// What the service needs around it: room, time, and ways to others.
extension DoctorCommand {
    // MARK: Room

    /// So many days are enough to do something about it.
    private static let daysFew = 7.0
    private static let daysMany = 90.0
    /// Less than this may be gone with one import.
    private static let bytesFew = 256.0 * 1_048_576
    /// The growth is that of the newest events, so many at the most.
    private static let eventsLookedAt: Int64 = 100_000

    /// How much room is left, and for how long at the rate of the newest events.
    static func room(_ path: String) -> Finding? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let free = Double(status.f_bavail) * Double(status.f_frsize)
        let used = bytes(in: path)
        let left = "\(mebibytes(free)) are free, \(mebibytes(used)) used"
        // A backup or a projection folded anew needs the room a second time.
        guard free > max(bytesFew, used) else {
            return .wrong("room", "\(left), too few for a backup: move other files away or take a larger disk")
        }
        guard let growth = bytesPerDay(path, used: used), growth > 0 else {
            return .note("room", "\(left); for how long shows when a service runs and has events of a day")
        }
        let days = (free - used) / (growth * 2)
        let forecast = "\(left), growing by \(mebibytes(growth)) a day: enough for \(span(days))"
        if days < daysFew { return .wrong("room", "\(forecast); take a larger disk now") }
        return days < daysMany ? .note("room", "\(forecast); plan a larger disk") : .good("room", forecast)
    }

    /// As the service that runs on the directory tells it, from the times of two events as they lie in the log; `nil` when
    /// none runs, or the log is younger than a day.
    private static func bytesPerDay(_ path: String, used: Double) -> Double? {
        guard let running = DataDirectory.running(in: path), let text = running.address,
            let transport = WireTransport("http://" + text), let token = House.adminToken(of: path)
        else { return nil }
        let client = Client(service: ServiceClient(transport: transport, token: token))
        func time(ofEventAfter number: Int64) -> Timestamp? {
            let query = [
                (name: "after", value: "\(number)"), (name: "limit", value: "1"), (name: "asStored", value: "true"),
            ]
            let page = try? client.get("v1", "events", query: query)
            return page?["items"]?.array.map(Array.init)?.first?.time("recordedAt")
        }
        guard let head = try? client.head(), head > 1 else { return nil }
        let looked = min(eventsLookedAt, head - 1)
        guard let first = time(ofEventAfter: head - 1 - looked), let last = time(ofEventAfter: head - 1) else {
            return nil
        }
        let days = last.seconds(since: first) / 86_400
        return days < 1 ? nil : used / Double(head) * Double(looked) / days
    }

    private static func bytes(in folder: String) -> Double {
        guard let entries = opendir(folder) else { return 0 }
        defer { closedir(entries) }
        var sum = 0.0
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            var status = stat()
            guard name != ".", name != "..", lstat("\(folder)/\(name)", &status) == 0 else { continue }
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            sum += isFolder ? bytes(in: "\(folder)/\(name)") : Double(status.st_size)
        }
        return sum
    }

    private static func mebibytes(_ bytes: Double) -> String {
        bytes < 10 * 1_073_741_824
            ? "\(Text.fixed(bytes / 1_048_576, decimals: 1)) MiB" : "\(Text.count(Int(bytes / 1_073_741_824))) GiB"
    }

    private static func span(_ days: Double) -> String {
        days < 730 ? "\(Int(days)) days" : days < 36_500 ? "\(Int(days / 365)) years" : "more than a hundred years"
    }

    // MARK: Time

    /// A clock off by more than this puts questions and answers in the wrong order for people.
    private static let clockErrorSecondsMax = 1.0

    static func clockKeeping() -> Finding {
        guard let error = Surroundings.clockErrorSeconds else {
            return .note("clock keeping", "nothing keeps the clock right; install systemd-timesyncd or chrony")
        }
        guard error <= clockErrorSecondsMax else {
            return .note(
                "clock keeping", "the clock may be off by \(Text.fixed(error, decimals: 1)) s; look at what keeps it")
        }
        return .good("clock keeping", "off by \(Text.fixed(error, decimals: 3)) s at the most")
    }

    // MARK: Ways to others

    /// Whether apps reach the service by TLS, as far as this computer can tell.
    static func front(_ configuration: ServiceConfiguration) -> Finding {
        guard let url = configuration.publicURL else {
            return .note("TLS in front", "config.json has no \"publicURL\"; name there how apps reach the service")
        }
        guard url.hasPrefix("https://") else {
            return .wrong("TLS in front", "\"publicURL\" is not https: anybody on the way could read every place")
        }
        let authority = url.dropFirst("https://".count).prefix { $0 != "/" }
        // An address of IPv6 is full of colons: without a port it ends with its bracket.
        let hasPort = authority.last != "]" && authority.contains(":")
        let address = hasPort ? SocketAddress(String(authority)) : SocketAddress("\(authority):443")
        guard let address else { return .wrong("TLS in front", "\"publicURL\" names no host and port") }
        guard let port = Int64(address.port) else { return .wrong("TLS in front", "\"publicURL\" has no port") }
        if let why = Surroundings.whyUnreachable(host: address.host, port: port, caFile: nil) {
            return .wrong("TLS in front", "\(authority): \(why); look at the proxy, its certificate and the name")
        }
        return .good("TLS in front", "\(authority) shows a good certificate")
    }

    /// Whether APNs, or what stands for it, can be reached: each server once.
    static func pushServers(_ configuration: ServiceConfiguration) -> [Finding] {
        var seen: Set<String> = []
        return configuration.push.compactMap { push in
            let name = "\(push.host):\(push.port)"
            guard seen.insert(name).inserted else { return nil }
            guard let why = Surroundings.whyUnreachable(host: push.host, port: push.port, caFile: push.caFile) else {
                return .good("push server", "\(name) shows a good certificate")
            }
            return .wrong("push server", "\(name): \(why); let TCP out to port \(push.port), and look at \"caFile\"")
        }
    }
}
