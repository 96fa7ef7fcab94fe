extension Double {
    /// The number itself, and 0 for −0.
    ///
    /// SQLite stores whole numbers in a REAL column as integers, so −0 comes back as 0. A −0 that a client sends, or whose
    /// text is too small for a double (`-1e-400`), becomes 0 where it is read, so that what is hashed is what is stored.
    package var positiveZero: Double { self == 0 ? 0 : self }
}
