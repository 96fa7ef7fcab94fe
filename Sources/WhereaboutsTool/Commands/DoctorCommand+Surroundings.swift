import Glibc
import JSON
import Log
import Reactors
import Replies
import Service
import Whereabouts
import WhereaboutsClient

/// The service's environment: disk space, clock, and connections.
extension DoctorCommand {
    // MARK: Room

    /// With fewer days left, there is little time to act.
    private static let daysFew = 7.0
    private static let daysMany = 90.0
    /// One import can use this much.
    private static let bytesFew = 256.0 * 1_048_576
    /// The newest events from which the growth is computed, at most.
    private static let eventsLookedAt: Int64 = 100_000

    /// The free disk space, and how long it will last at the rate of the newest events.
    static func room(_ path: String) -> Finding? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let free = Double(status.f_bavail) * Double(status.f_frsize)
        let used = bytes(in: path)
        let left = "\(mebibytes(free)) are free, \(mebibytes(used)) used"
        // A backup or a refolded projection needs the space once more.
        guard free > max(bytesFew, used) else {
            return .wrong("room", "\(left), too little for a backup: move other files away or use a larger disk")
        }
        guard let growth = bytesPerDay(path, used: used), growth > 0 else {
            return .note("room", "\(left); how long this lasts is known once a running service has events of a day")
        }
        let days = (free - used) / (growth * 2)
        let forecast = "\(left), growing by \(mebibytes(growth)) a day: enough for \(span(days))"
        if days < daysFew { return .wrong("room", "\(forecast); get a larger disk now") }
        return days < daysMany ? .note("room", "\(forecast); plan a larger disk") : .good("room", forecast)
    }

    /// The growth that the running service shows by the times of two stored events; `nil` if none runs, or if the log
    /// is younger than a day.
    private static func bytesPerDay(_ path: String, used: Double) -> Double? {
        guard let running = DataDirectory.running(in: path), let text = running.address,
            let transport = WireTransport("http://" + text), let token = House.adminToken(of: path)
        else { return nil }
        let client = Client(service: ServiceClient(transport: transport, token: token))
        func time(ofEventAfter number: Int64) -> Timestamp? {
            let query = [
                (name: "after", value: "\(number)"), (name: "limit", value: "1"), (name: "asStored", value: "true"),
            ]
            let page = try? client.get(APIPath.events.parts(), query: query).read(Page<EventHead>.self)
            return (page?.items.first?.recordedAt).map { Timestamp($0) }
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

    /// A larger error of the clock puts questions and answers in the wrong order for people.
    private static let clockErrorSecondsMax = 1.0

    static func clockKeeping() -> Finding {
        guard let error = Surroundings.clockErrorSeconds else {
            return .note("clock keeping", "nothing keeps the clock right; install systemd-timesyncd or chrony")
        }
        guard error <= clockErrorSecondsMax else {
            return .note(
                "clock keeping",
                "the clock may be off by \(Text.fixed(error, decimals: 1)) s; check the service that sets it")
        }
        return .good("clock keeping", "off by \(Text.fixed(error, decimals: 3)) s at the most")
    }

    // MARK: Ways to others

    /// Whether apps reach the service with TLS, as far as this computer can see.
    static func front(_ configuration: ServiceConfiguration) -> Finding {
        guard let url = configuration.publicURL else {
            return .note("TLS in front", "config.json has no \"publicURL\"; set it to the address that apps use")
        }
        guard url.hasPrefix("https://") else {
            return .wrong("TLS in front", "\"publicURL\" is not https: anyone on the network could read every location")
        }
        let authority = url.dropFirst("https://".count).prefix { $0 != "/" }
        // An IPv6 address contains colons; without a port it ends with its bracket.
        let hasPort = authority.last != "]" && authority.contains(":")
        let address = hasPort ? SocketAddress(String(authority)) : SocketAddress("\(authority):443")
        guard let address else { return .wrong("TLS in front", "\"publicURL\" has no host") }
        guard let port = Int64(address.port) else { return .wrong("TLS in front", "\"publicURL\" has no port") }
        if let why = Surroundings.whyUnreachable(host: address.host, port: port, caFile: nil) {
            return .wrong("TLS in front", "\(authority): \(why); check the proxy, its certificate and the name")
        }
        return .good("TLS in front", "\(authority) has a valid certificate")
    }

    /// Whether each push server can be reached, once for each server.
    static func pushServers(_ configuration: ServiceConfiguration) -> [Finding] {
        var seen: Set<String> = []
        return configuration.push.compactMap { push in
            let name = "\(push.host):\(push.port)"
            guard seen.insert(name).inserted else { return nil }
            guard let why = Surroundings.whyUnreachable(host: push.host, port: push.port, caFile: push.caFile) else {
                return .good("push server", "\(name) has a valid certificate")
            }
            return .wrong("push server", "\(name): \(why); allow TCP to port \(push.port), and check \"caFile\"")
        }
    }
}
