import GZIP

/// The bytes of a gzip file: all its streams, one after the other (RFC 1952, section 2.2).
final class GunzipSource: ByteSource {
    private let source: LookAhead
    private var inflater = Inflater(.gzip)
    private var bound = ExpansionBound()
    private var isAtEnd = false

    init(_ source: LookAhead) { self.source = source }

    func next() throws(FormatFault) -> ArraySlice<UInt8>? {
        while !isAtEnd {
            let input = try source.peek(FileSource.pieceBytes)
            if inflater.isAtEnd {
                // The rest is another stream, or padding, which gzip ignores too.
                guard input.starts(with: [0x1F, 0x8B]) else {
                    isAtEnd = true
                    return nil
                }
                inflater.restart()
            }
            let (output, used) = try expand(input)
            source.drop(used)
            try bound.add(compressed: used, expanded: output.count)
            if !output.isEmpty { return output[...] }
            if used == 0 && !inflater.isAtEnd && input.isEmpty {
                throw .badArchive("The gzip file ends too early; what came before was read.")
            }
        }
        return nil
    }

    private func expand(_ input: ArraySlice<UInt8>) throws(FormatFault) -> (output: [UInt8], used: Int) {
        do throws(Inflater.Fault) { return try inflater.expand(input, capacity: FileSource.pieceBytes) } catch {
            isAtEnd = true
            throw .badArchive("The gzip file is damaged.")
        }
    }
}
