/// The members of an archive, one after the other.
protocol ArchiveMembers: AnyObject {
    /// The next member. Skips the rest of the previous one.
    func nextMember() throws(FormatFault) -> ArchiveMember?
}

/// One member of an archive.
final class ArchiveMember: ByteSource {
    /// The name, for people only: it is never used as a path.
    let name: String
    /// Why the content cannot be read; `nil` if it can.
    let refusal: String?
    private let advance: (ArchiveMember) throws(FormatFault) -> ArraySlice<UInt8>?
    /// Whether the content was read to its end.
    var isAtEnd = false

    /// - Parameter advance: Gives the next piece, and sets ``isAtEnd`` when it gives none or throws.
    init(
        name: String, refusal: String?,
        advance: @escaping (ArchiveMember) throws(FormatFault) -> ArraySlice<UInt8>?
    ) {
        (self.name, self.refusal, self.advance) = (name, refusal, advance)
    }

    func next() throws(FormatFault) -> ArraySlice<UInt8>? {
        isAtEnd ? nil : try advance(self)
    }
}
