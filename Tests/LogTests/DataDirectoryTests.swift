import Glibc
import TestSupport
import Testing

@testable import Log

@Suite struct DataDirectoryTests {
    private let folder = TemporaryFolder()

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    private func sentence(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch { return "\(error)" }
    }

    @Test func `each created directory is durable in its parent`() throws {
        var synced: [String] = []
        let path = folder.path + "/a/b/c"
        try DataDirectory.makeDirectory(path) { synced.append($0) }
        #expect(synced == [folder.path, folder.path + "/a", folder.path + "/a/b"])
        try DataDirectory.makeDirectory(path) { _ in Issue.record("nothing was made") }
    }

    @Test(arguments: [
        ("/a/b", "/a"), ("/a/b/", "/a"), ("/a", "/"), ("/", "."), ("a", "."), ("a/b", "a"), ("", "."),
    ]) func `the directory above a path`(path: String, parent: String) {
        #expect(DataDirectory.parent(of: path) == parent)
    }

    @Test func `the access of other users to a directory and its secrets is removed`() throws {
        let path = folder.path + "/data"
        _ = try DataDirectory(path: path).openKeys()
        for name in ["admin.token", "log.sqlite"] { try DataDirectory.writePrivate([], to: "\(path)/\(name)") }
        let files = ["kek", "admin.token", "keys.sqlite", "log.sqlite"].map { "\(path)/\($0)" }
        for file in files { #expect(chmod(file, 0o644) == 0) }
        #expect(chmod(path, 0o755) == 0)
        let directory = try DataDirectory(path: path)
        for file in files { #expect(mode(file) == 0o600) }
        #expect(mode(path) == 0o700)
        _ = directory
    }

    @Test func `a directory that others use is refused and not changed`() throws {
        let path = folder.path + "/shared"
        mkdir(path, 0o700)
        try DataDirectory.writePrivate([1], to: path + "/letter.txt")
        #expect(chmod(path, 0o755) == 0)
        #expect(sentence { _ = try DataDirectory(path: path) }.contains("holds files that the service did not make"))
        #expect(mode(path) == 0o755 && access(path + "/LOCK", F_OK) != 0)
        unlink(path + "/letter.txt")
        #expect(chmod(path, 0o1777) == 0)
        #expect(sentence { _ = try DataDirectory(path: path) }.contains("holds files that the service did not make"))
        #expect(mode(path) == 0o1777)
    }

    @Test func `a directory made by hand with a configuration is accepted`() throws {
        let path = folder.path + "/prepared"
        mkdir(path, 0o755)
        chmod(path, 0o755)
        try DataDirectory.writePrivate(Array("{}".utf8), to: path + "/config.json")
        _ = try DataDirectory(path: path)
        #expect(mode(path) == 0o700)
    }
}
