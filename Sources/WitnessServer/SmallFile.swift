internal import Glibc

/// Files that fit into memory.
enum SmallFile {
    /// The content; `nil` if there is no such file.
    ///
    /// - Throws: ``WitnessFault`` if it cannot be read, or is longer than `bytesMax`.
    static func read(_ path: String, atMost bytesMax: Int) throws(WitnessFault) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw failure("read", path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count >= 0 else { throw failure("read", path) }
            if count == 0 { return bytes }
            bytes += piece[..<count]
            guard bytes.count <= bytesMax else { throw WitnessFault("\(path) is longer than \(bytesMax) bytes.") }
        }
    }

    /// Makes a file that only its owner may read. File and name are durable on return.
    ///
    /// - Throws: ``WitnessFault`` if it is there already, or cannot be written.
    static func make(_ path: String, _ bytes: [UInt8], in folder: String) throws(WitnessFault) {
        // A reader sees no half of it: the file gets its name at the end.
        let draft = path + ".new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("write", path) }
        let isWritten = write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        // A link, and not a new name: it fails if the file is there.
        guard isWritten, link(draft, path) == 0 else {
            let failure = failure("write", path)
            unlink(draft)
            throw failure
        }
        unlink(draft)
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw failure("write", path) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw failure("write", path) }
    }

    /// The failure of the last system call.
    static func failure(_ verb: String, _ path: String) -> WitnessFault {
        WitnessFault("Cannot \(verb) \(path): \(String(cString: strerror(errno))).")
    }
}
