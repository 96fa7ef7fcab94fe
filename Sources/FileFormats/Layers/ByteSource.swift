/// Bytes in pieces, from a file or out of an archive.
protocol ByteSource: AnyObject {
    /// The next piece, not empty; `nil` at the end.
    func next() throws(FormatFault) -> ArraySlice<UInt8>?
}

/// The bytes of the file itself.
final class FileSource: ByteSource {
    /// The bytes that readers get at once.
    static let pieceBytes = 64 << 10
    private let read: () -> [UInt8]?
    private var rest: ArraySlice<UInt8> = []
    private(set) var bytesRead = 0

    /// - Parameter read: Gives the next bytes of the file; none or `nil` at the end.
    init(_ read: @escaping () -> [UInt8]?) { self.read = read }

    func next() throws(FormatFault) -> ArraySlice<UInt8>? {
        if rest.isEmpty {
            rest = read()?[...] ?? []
            bytesRead += rest.count
        }
        guard !rest.isEmpty else { return nil }
        let piece = rest.prefix(Self.pieceBytes)
        rest = rest.dropFirst(piece.count)
        return piece
    }
}

/// A source whose beginning can be looked at before it is read.
final class LookAhead: ByteSource {
    private let source: any ByteSource
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// Whether the bytes, which are all there, have a wrong checksum. It is thrown after the last of them.
    private var isWrong = false

    init(_ source: any ByteSource) { self.source = source }

    /// The next `count` bytes, or all that are left. They are not taken.
    func peek(_ count: Int) throws(FormatFault) -> ArraySlice<UInt8> {
        while buffer.count - start < count, !isAtEnd {
            let next: ArraySlice<UInt8>?
            do throws(FormatFault) { next = try source.next() } catch {
                guard error == .wrongChecksum else { throw error }
                (next, isWrong) = (nil, true)
            }
            guard let piece = next else {
                isAtEnd = true
                break
            }
            if start > 0 {
                buffer.removeFirst(start)
                start = 0
            }
            buffer.append(contentsOf: piece)
        }
        return buffer[start...].prefix(count)
    }

    /// Takes bytes that were looked at.
    func drop(_ count: Int) {
        start = min(buffer.count, start + count)
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            start = 0
        }
    }

    /// Takes exactly `count` bytes; `nil` if there are fewer.
    func take(_ count: Int) throws(FormatFault) -> [UInt8]? {
        let bytes = try peek(count)
        guard bytes.count == count else { return nil }
        let taken = Array(bytes)
        drop(count)
        return taken
    }

    func next() throws(FormatFault) -> ArraySlice<UInt8>? {
        let piece = try peek(1).isEmpty ? [] : buffer[start...].prefix(FileSource.pieceBytes)
        guard !piece.isEmpty else {
            guard !isWrong else {
                isWrong = false
                throw .wrongChecksum
            }
            return nil
        }
        drop(piece.count)
        return piece
    }
}
