extension Double {
    /// The number itself, or 0 for −0.
    ///
    /// SQLite stores whole numbers in a REAL column as integers, so −0 comes back as 0. Readers of input replace −0, which
    /// also results from texts such as `-1e-400`, so that the hashed number is the stored one.
    package var positiveZero: Double { self == 0 ? 0 : self }
}
