import CoreLocation
import Foundation
import Glibc
import TestProcesses
import TestSupport
import Testing
import Threading

@testable import DeviceAgent

/// Whether Debian's gpsd and gpsd-clients are there.
private let isGPSDInstalled = access("/usr/sbin/gpsd", X_OK) == 0 && access("/usr/bin/gpsfake", X_OK) == 0

/// A real gpsd, fed by gpsfake; skipped where they are not installed.
@Suite(.enabled(if: isGPSDInstalled, "gpsd and gpsfake are not installed: the real receiver is not tried."))
struct GPSDReceiverTests {
    /// The log's own places by the second of its time.
    private static func place(second: Int) -> (latitude: Double, longitude: Double) {
        let seconds = Double(second)
        return (48.2 + seconds * 1e-4, 16.35 + seconds * 5e-5)
    }

    /// One RMC, GGA and GSA a second from 2026-11-20T12:00:00Z on.
    private static func log() -> Data {
        func sentence(_ body: String) -> String {
            let sum = body.utf8.reduce(0, ^)
            return "$\(body)*\(sum < 16 ? "0" : "")\(String(sum, radix: 16, uppercase: true))\r\n"
        }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        func minutes(_ degrees: Double, _ digits: Int) -> String {
            let whole = Int(degrees)
            // Seven decimals of a minute are 2 cm, written by integers.
            let tenMillionths = (degrees - Double(whole)) * 60 * 1e7
            let parts = Int(tenMillionths.rounded())
            let fraction = String(String(parts % 10_000_000 + 10_000_000).dropFirst())
            let name = String(whole)
            let zeros = String(repeating: "0", count: digits - name.count)
            return zeros + name + two(parts / 10_000_000) + "." + fraction
        }
        var text = ""
        for second in 0..<600 {
            let place = place(second: second)
            let time = "12\(two(second / 60))\(two(second % 60)).00"
            let at = "\(minutes(place.latitude, 2)),N,\(minutes(place.longitude, 3)),E"
            text += sentence("GPRMC,\(time),A,\(at),1.94,18.5,201126,,,A")
            text += sentence("GPGGA,\(time),\(at),1,08,0.9,171.3,M,43.2,M,,")
            text += sentence("GPGSA,A,3,01,02,03,04,05,06,07,08,,,,,1.6,0.9,1.3")
        }
        return Data(text.utf8)
    }

    /// gpsfake with a gpsd on its own port; both end when this object is released.
    private final class Fake {
        private let process = Process()

        init(log: URL, port: Int) throws {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/gpsfake")
            process.arguments = ["-q", "-c", "0.004", "-P", "\(port)", log.path]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.runBounded()
        }

        /// gpsfake does not end its gpsd when it is killed, and does not end at all when it is asked to: both are killed.
        func stop() {
            for child in Self.children(of: process.processIdentifier) { kill(child, SIGKILL) }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        private static func children(of parent: pid_t) -> [pid_t] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return names.compactMap { pid_t($0) }.filter { child in
                // The fields after the name in brackets: state, parent.
                let stat = (try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)) ?? ""
                let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
                return fields.count > 1 && fields[1] == "\(parent)"
            }
        }

        deinit { if process.isRunning { stop() } }
    }

    private final class Follower: NSObject, CLLocationManagerDelegate {
        var fixes: [CLLocation] = []
        var errors: [any Error] = []
        func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
            fixes += locations
        }
        func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) { errors.append(error) }
    }

    @Test func `T1 T2 an app follows gpsd, is told when it goes, and follows it again when it is back`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gpsd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // gpsd gives up its rights and must still read the log.
        chmod(folder.path, 0o755)
        let log = folder.appendingPathComponent("walk.nmea")
        try Self.log().write(to: log)

        let device = SimulatedDevice(clock: SimulatedClock(start: Date(timeIntervalSince1970: 1_795_176_000)))
        let application = device.install(SimulatedBundle(identifier: "org.example.app"))
        application.changeInSettings(.authorizedAlways)
        application.open()
        let follower = Follower()
        let manager = application.run { () -> CLLocationManager in
            let manager = CLLocationManager()
            manager.delegate = follower
            manager.pausesLocationUpdatesAutomatically = false
            manager.startUpdatingLocation()
            return manager
        }
        device.clock.advance(by: 1)

        let reserved = ReservedPort()
        defer { withExtendedLifetime(reserved) {} }
        let receiver = GPSDReceiver(address: try #require(HostAndPort("127.0.0.1:\(reserved.number)")))
        func follow(until isDone: () -> Bool) {
            // A gpsd that never comes fails the test instead of holding it.
            let end = MonotonicClock.milliseconds + 20_000
            while !isDone(), MonotonicClock.milliseconds < end {
                for reading in receiver.readings(waitingMs: 50) {
                    switch reading {
                    case .fix(let fix): device.receiveLive(CLLocation(fix))
                    case .lost: device.loseReceiver()
                    }
                    device.clock.advance(by: 1)
                }
            }
        }
        let first = try Fake(log: log, port: reserved.number)
        follow { follower.fixes.count >= 20 }
        #expect(follower.fixes.count >= 20)
        first.stop()
        follow { !follower.errors.isEmpty }
        #expect(follower.errors.map { ($0 as NSError).code } == [0])
        let before = follower.fixes.count
        let second = try Fake(log: log, port: reserved.number)
        follow { follower.fixes.count >= before + 20 }
        #expect(follower.fixes.count >= before + 20)
        second.stop()

        #expect(manager.location != nil)
        let start = 1_795_176_000.0
        for fix in follower.fixes {
            let second = Int((fix.timestamp.timeIntervalSince1970 - start).rounded())
            #expect((0..<600).contains(second))
            let place = Self.place(second: second)
            #expect(abs(fix.coordinate.latitude - place.latitude) < 1e-6)
            #expect(abs(fix.coordinate.longitude - place.longitude) < 1e-6)
            #expect(fix.altitude == 171.3 && abs(fix.ellipsoidalAltitude - 214.5) < 1e-6)
            // gpsfake plays on a pseudo-terminal.
            #expect(fix.sourceInformation?.isSimulatedBySoftware == true)
        }
    }
}
