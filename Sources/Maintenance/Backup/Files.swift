import Glibc
package import Log
import SQLite

extension DataDirectory {
    /// Copies a file into a new one that only its owner may read, and which is durable on return.
    package static func copyPrivate(_ file: String, to copy: String) throws(LogError) {
        let from = open(file, O_RDONLY | O_CLOEXEC)
        guard from >= 0 else { throw .file(path: file, errno: errno) }
        defer { close(from) }
        let to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard to >= 0 else { throw .file(path: copy, errno: errno) }
        defer { close(to) }
        while true {
            let count = sendfile(to, from, nil, 1 << 20)
            if count == 0, fsync(to) == 0 { return }
            guard count > 0 else {
                let code = errno
                unlink(copy)
                throw .file(path: copy, errno: code)
            }
        }
    }

    /// Removes a folder with its content, if it exists. Links are removed, not followed.
    package static func removeTree(_ path: String) {
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            for name in names(in: path) where name != "." && name != ".." { removeTree("\(path)/\(name)") }
        }
        remove(path)
    }
}

extension KeyRing {
    /// The ids of the keys that a file of keys says were destroyed.
    package static func destroyedKeys(in path: String) throws(LogError) -> Set<Int64> {
        do throws(SQLiteError) {
            return try Connection(path: path, access: .readOnly).cached("SELECT id FROM destroyed") {
                (statement) throws(SQLiteError) in
                var ids: Set<Int64> = []
                while try statement.step() { ids.insert(statement.int(at: 0)) }
                return ids
            }
        } catch { throw .sqlite(error) }
    }
}
