package import Whereabouts

/// Columns in the bytes of a row that a fingerprint counts.
extension CBORWriter {
    /// Writes a number as a REAL column returns it: 0 for −0, and NULL for NaN.
    package mutating func real(_ value: Double) {
        if value.isNaN { null() } else { float(value.positiveZero) }
    }

    /// Writes the number, or null.
    package mutating func optional(_ value: Int64?) {
        if let value { integer(value) } else { null() }
    }

    /// Writes the number as ``real(_:)`` does, or null.
    package mutating func optional(_ value: Double?) {
        if let value { real(value) } else { null() }
    }

    /// Writes the text, or null.
    package mutating func optional(_ value: String?) {
        if let value { text(value) } else { null() }
    }

    /// Writes the byte string, or null.
    package mutating func optional(_ value: [UInt8]?) {
        if let value { byteString(value) } else { null() }
    }
}
