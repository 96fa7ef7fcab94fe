/// The header that every file of the gazetteer begins with, and the sections that follow it.
///
/// The header has 64 bytes, or 128 in files that need more (`names.gazetteer`), little-endian: a magic of 8 bytes, the
/// version u32, a number u32, the bytes of the whole file u64, and fields of the kind of file. Sections follow one
/// another, each beginning at a multiple of 64.
struct FileLayout {
    private static let leastHeaderByteCount = 64
    private let start: UnsafeRawPointer
    private let byteCount: Int
    private let path: String
    private let header: Section
    private var end: Int

    /// - Parameter magic: Eight bytes. They identify the kind of the file, and contain a line end that a transfer in
    ///   text mode
    ///   would destroy.
    init(
        _ file: borrowing MappedFile, path: String, magic: String, version: UInt32, headerByteCount: Int = 64
    ) throws(GazetteerError) {
        start = file.start
        byteCount = file.byteCount
        self.path = path
        let letters = Array(magic.utf8)
        guard byteCount >= letters.count,
            UnsafeRawBufferPointer(start: start, count: letters.count).elementsEqual(letters)
        else { throw .foreign(path: path) }
        guard byteCount >= Self.leastHeaderByteCount else {
            throw .damaged(path: path, reason: "its header is cut off")
        }
        // The version is checked before the length of the header: other versions may have a shorter one.
        let found = Section(start: start, count: 1, stride: Self.leastHeaderByteCount).uint32(0, at: 8)
        guard found == version else { throw .otherVersion(path: path, found: found, expected: version) }
        guard byteCount >= headerByteCount else { throw .damaged(path: path, reason: "its header is cut off") }
        header = Section(start: start, count: 1, stride: headerByteCount)
        end = headerByteCount
    }

    func uint32(at offset: Int) -> UInt32 { header.uint32(0, at: offset) }
    func uint64(at offset: Int) -> UInt64 { header.uint64(0, at: offset) }
    func count(at offset: Int) -> Int { Int(header.uint32(0, at: offset)) }

    /// The next section. Counts are below 2^32 and strides small, so no sum can overflow.
    mutating func section(count: Int, stride: Int) -> Section {
        let begin = (end + 63) / 64 * 64
        end = begin + count * stride
        return Section(start: start + begin, count: count, stride: stride)
    }

    /// Called after the last section and before any of them is read: they end where the file does.
    func finish() throws(GazetteerError) {
        guard uint64(at: 16) == UInt64(end) else {
            throw .damaged(path: path, reason: "its header contradicts itself")
        }
        guard byteCount == end else {
            throw .damaged(path: path, reason: "it has \(byteCount) bytes instead of \(end)")
        }
    }
}
