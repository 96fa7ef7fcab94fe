import Cryptography
import Geodesy
import Log
import Whereabouts

/// Synthetic persons with one device each, and the reports of their devices. Each walk is a function of the device and
/// the fix number, so a reader of the log can check every fix.
struct Fleet {
    let devices: [Caller]
    let manager: Caller
    /// Number of the next fix of each device.
    var next: [Int]

    /// 2026-01-01T00:00:00Z, when every walk begins; one fix a second.
    static let start = Timestamp(milliseconds: 1_767_225_600_000)

    /// The fleet of a log: made if it is not there, taken up behind its newest fixes if it is.
    init(of log: EventLog, count: Int) throws {
        let secret = SHA256().hash(Array("operator".utf8))
        var manager = Self.caller(secret, log)
        if manager == nil {
            _ = try log.appendAndWait(
                .issueToken(
                    for: .operator, scopes: [.query, .audit, .manage, .operate], hash: Self.hash(secret), until: nil),
                by: .house, correlation: .random())
            manager = Self.caller(secret, log)
        }
        guard let manager else { throw FleetError.noToken }
        var devices: [Caller] = []
        var next: [Int] = []
        for index in 0..<count {
            guard let person = Handle("person-\(index)"), let device = Handle("device-\(index)") else { continue }
            let secret = Self.secret(ofDevice: index)
            if Self.caller(secret, log) == nil {
                // Work of an earlier, killed run is not repeated.
                if log.withStanding({ $0.person(person) }) == nil {
                    try Self.submit(.addPerson(person), by: manager, log)
                }
                if log.withStanding({ $0.device(device) }) == nil {
                    try Self.submit(.addDevice(device, of: person), by: manager, log)
                }
                try Self.submit(
                    .issueToken(for: .device(device), scopes: .report, hash: Self.hash(secret), until: nil),
                    by: manager, log)
            }
            guard let caller = Self.caller(secret, log) else { throw FleetError.noToken }
            devices.append(caller)
            let newest = log.withStanding {
                $0.devices[DeviceID(rawValue: caller.principal.rawValue)]?.reports.newestTimestamp
            }
            next.append(newest.map { Int($0.seconds(since: Self.start)) + 1 } ?? 0)
        }
        (self.devices, self.manager) = (devices, manager)
        self.next = next
    }

    /// The caller that reports for a device of the fleet; `nil` before its token was issued.
    static func deviceCaller(_ index: Int, _ log: EventLog) -> Caller? { caller(secret(ofDevice: index), log) }

    private static func secret(ofDevice index: Int) -> Digest { SHA256().hash(Array("device \(index)".utf8)) }

    private static func hash(_ digest: Digest) -> Hash256 { Hash256(words: digest.words) }

    private static func caller(_ secret: Digest, _ log: EventLog) -> Caller? {
        log.withStanding { $0.caller(tokenHash: hash(secret), at: start) }
    }

    private static func submit(_ command: Command, by caller: Caller, _ log: EventLog) throws {
        _ = try log.appendAndWait(command, by: caller, correlation: .random())
    }

    /// Fix `number` of device `device`: every field a phone fills, seven decimals.
    static func fix(device: Int, number: Int) -> Fix {
        func noise(_ salt: UInt64) -> Double {
            var z = UInt64(device) << 40 ^ UInt64(number) << 8 ^ salt
            z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return Double((z ^ z >> 31) >> 11) * 0x1p-53
        }
        let latitude = 52_000_0000 + Double(device % 1000) * 1_0000 + (noise(1) * 1_0000).rounded()
        let longitude = 13_000_0000 + Double(number % 100_000) * 100 + (noise(2) * 100).rounded()
        guard let coordinate = try? Coordinate(latitude: latitude / 1e7, longitude: longitude / 1e7) else {
            preconditionFailure("The walk stays near Berlin.")
        }
        var fix = Fix(
            timestamp: start.adding(seconds: Int64(number)), coordinate: coordinate,
            horizontalAccuracy: 3 + (noise(3) * 20).rounded())
        fix.altitude = (noise(4) * 1000).rounded() / 10
        fix.verticalAccuracy = 4
        fix.speed = (noise(5) * 100).rounded() / 64
        fix.course = (noise(6) * 359).rounded()
        fix.batteryLevel = 0.5
        return fix
    }

    /// The next fix of `device`, as a command.
    mutating func report(device: Int) -> Command {
        defer { next[device] += 1 }
        return .reportFixes(device: .caller, [.fix(Self.fix(device: device, number: next[device]), answering: nil)])
    }

    /// Appends `count` fixes in large commands, unmeasured.
    mutating func warm(_ log: EventLog, count: Int) throws {
        var done = 0
        while done < count {
            let device = (done / 500) % devices.count
            let fixes = (0..<min(500, count - done)).map { offset in
                DeviceReport.fix(Self.fix(device: device, number: next[device] + offset), answering: nil)
            }
            _ = try log.appendAndWait(
                .reportFixes(device: .caller, fixes), by: devices[device], correlation: .random())
            next[device] += fixes.count
            done += fixes.count
        }
    }
}

enum FleetError: Error { case noToken }
