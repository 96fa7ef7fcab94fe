import Glibc
import Synchronization
import TestSupport
import Testing
import Whereabouts

@testable import Log

/// A disk whose free bytes the test sets. `scripts/faults/process-life` tests the files on a full disk.
@Suite struct RoomTests {
    private let folder = TemporaryFolder()

    private func size(_ name: String) -> Int64? {
        var status = stat()
        return stat("\(folder.path)/\(name)", &status) == 0 ? Int64(status.st_size) : nil
    }

    @Test func `the reserve is removed when the disk is nearly full, and created when there is enough space again`() {
        let disk = Disk(1 << 30)
        let room = Room(directory: folder.path) { disk.free }
        #expect(!room.isShort)
        #expect(size("reserve") == Room.reserveBytes)
        for (bytes, isShort) in [
            (Room.shortBytes, false), (Room.shortBytes - 1, true), (Room.enoughBytes - 1, true),
            (Room.enoughBytes, false),
        ] {
            disk.free = bytes
            room.look()
            #expect(room.isShort == isShort, "\(bytes) free")
            #expect(size("reserve") == (isShort ? nil : Room.reserveBytes))
        }
    }

    @Test func `a write that finds the disk full gets the reserve once`() {
        let disk = Disk(1 << 30)
        let room = Room(directory: folder.path) { disk.free }
        #expect(room.spend())
        #expect(room.isShort)
        #expect(!room.spend())
        room.look()
        #expect(!room.isShort, "There is room after all.")
    }

    @Test func `on a full disk reports are refused, and reads, ends and erasures are accepted`() throws {
        let scene = LogScene()
        let (admin, phone) = try scene.people()
        let disk = Disk(1 << 30)
        scene.stop()
        let room = Room(directory: scene.path) { disk.free }
        let log = try scene.open(room: room)
        disk.free = 0
        room.look()
        func outcome(_ command: Command, by caller: Caller) -> String {
            do throws(AppendFailure) {
                _ = try log.appendAndWait(command, by: caller, correlation: .random())
                return "taken"
            } catch { return if case .full = error { "full" } else { "\(error)" } }
        }
        let report = Command.reportFixes(device: .caller, [.fix(try scene.fix(1), answering: nil)])
        #expect(outcome(report, by: phone) == "full")
        #expect(outcome(.addPerson(LogScene.handle("newcomer")), by: admin) == "full")
        #expect(outcome(.endOverdueQueries, by: .house) == "taken")
        #expect(outcome(.erasePerson(LogScene.handle("walker")), by: admin) == "taken")
        disk.free = Room.enoughBytes
        room.look()
        #expect(outcome(.addPerson(LogScene.handle("newcomer")), by: admin) == "taken")
    }

    private final class Disk: Sendable {
        private let bytes: Mutex<Int64>
        init(_ free: Int64) { bytes = Mutex(free) }
        var free: Int64 {
            get { bytes.withLock { $0 } }
            set { bytes.withLock { $0 = newValue } }
        }
    }
}
