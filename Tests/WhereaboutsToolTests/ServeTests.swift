import Foundation
import Glibc
import TestSupport
import Testing

/// The built tool as a service manager runs it: what it tells, and how it ends.
@Suite struct ServeTests {
    @Test func `a service manager is told of readiness, of life and of the end`() throws {
        let temporary = TemporaryFolder()
        let folder = temporary.path
        let manager = try Datagrams(path: folder + "/notify")
        let service = Process()
        service.executableURL = Bundle.main.bundleURL.deletingLastPathComponent().appending(path: "whereabouts")
        if !FileManager.default.fileExists(atPath: service.executableURL?.path ?? "") {
            service.executableURL = Bundle.main.bundleURL.appending(path: "whereabouts")
        }
        service.arguments = ["--data", folder + "/data", "serve", "--listen", "127.0.0.1:0"]
        service.environment = ProcessInfo.processInfo.environment.merging([
            "NOTIFY_SOCKET": folder + "/notify", "WATCHDOG_USEC": "100000",
        ]) { $1 }
        service.environment?["WATCHDOG_PID"] = nil
        service.standardOutput = FileHandle.nullDevice
        service.standardError = FileHandle.nullDevice
        try service.run()
        #expect(manager.next() == "READY=1")
        #expect(manager.next() == "WATCHDOG=1")
        #expect(manager.next() == "WATCHDOG=1")
        service.terminate()
        var last = manager.next()
        while last == "WATCHDOG=1" { last = manager.next() }
        #expect(last == "STOPPING=1")
        service.waitUntilExit()
        #expect(service.terminationReason == .exit && service.terminationStatus == 0)
    }
}

/// A socket that takes datagrams, as systemd's does.
private final class Datagrams {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        // Far beyond what a start takes: a test that waits for ever says nothing.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// The next one, waiting for it; empty when none comes.
    func next() -> String {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }
}
