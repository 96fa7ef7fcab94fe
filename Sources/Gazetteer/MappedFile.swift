import Glibc

/// A file mapped into memory for reading; `deinit` unmaps it.
///
/// To replace such a file, rename a new one over it. Truncating it in place would end the process on the next read of a
/// missing page (SIGBUS), which no check can prevent.
///
/// Sendable because nothing writes to the mapping: it is private and read-only, and the fields never change.
struct MappedFile: ~Copyable, @unchecked Sendable {
    let start: UnsafeRawPointer
    let byteCount: Int

    init(path: String) throws(GazetteerError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, reason: Self.lastError()) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(path: path, reason: Self.lastError()) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unreadable(path: path, reason: "not a file") }
        // mmap refuses to map nothing, and nothing is no gazetteer either.
        guard status.st_size > 0 else { throw .foreign(path: path) }
        let address = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0)
        // MAP_FAILED is a cast, which Swift does not import.
        guard let address, address != UnsafeMutableRawPointer(bitPattern: -1) else {
            throw .unreadable(path: path, reason: Self.lastError())
        }
        start = UnsafeRawPointer(address)
        byteCount = Int(status.st_size)
    }

    deinit {
        munmap(UnsafeMutableRawPointer(mutating: start), byteCount)
    }

    private static func lastError() -> String {
        String(cString: strerror(errno))
    }
}
