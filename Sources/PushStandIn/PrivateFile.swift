internal import Glibc
internal import LocationPush

/// Small files that only their owner may read.
enum PrivateFile {
    /// Bytes read at most; keys, certificates and token lists are far smaller.
    private static let bytesMax = 64 * 1024 * 1024

    static func read(_ path: String) throws(TransportFault) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw TransportFault(call: "reading \(path)") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        while bytes.count < bytesMax {
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count >= 0 else { throw TransportFault(call: "reading \(path)") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: piece[..<count])
        }
        throw TransportFault("\(path) is too large")
    }

    /// Puts a whole file in place at once: a reader sees the old one or the new one.
    static func write(_ bytes: [UInt8], to path: String) throws(TransportFault) {
        let draft = path + ".new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw TransportFault(call: "writing \(path)") }
        defer { close(descriptor) }
        try append(bytes, to: descriptor, path: path)
        guard rename(draft, path) == 0 else { throw TransportFault(call: "writing \(path)") }
    }

    /// Opens a file that grows line by line.
    static func openForAppending(_ path: String) throws(TransportFault) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw TransportFault(call: "writing \(path)") }
        return descriptor
    }

    static func append(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(TransportFault) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress! + written, $0.count - written)
            }
            guard count >= 0 else { throw TransportFault(call: "writing \(path)") }
            written += count
        }
    }
}
