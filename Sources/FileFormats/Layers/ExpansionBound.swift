/// The bounds of a compressed stream's expansion.
struct ExpansionBound {
    /// A track of text is 5 to 30 times as long as its compressed form; deflate reaches 1,032.
    static let ratioMax = 200
    /// Up to here, the ratio is not looked at: a short file of equal lines is no attack.
    static let freeBytes = 8 << 20
    /// The most bytes that one file may expand to.
    static let totalMax = 64 << 30

    private var compressed = 0
    private var expanded = 0

    /// Counts a step.
    ///
    /// - Throws: ``FormatFault/expandsTooMuch``
    mutating func add(compressed: Int, expanded: Int) throws(FormatFault) {
        self.compressed += compressed
        self.expanded += expanded
        guard self.expanded > Self.freeBytes else { return }
        guard self.expanded <= Self.totalMax, self.expanded / Self.ratioMax <= self.compressed else {
            throw .expandsTooMuch
        }
    }
}
