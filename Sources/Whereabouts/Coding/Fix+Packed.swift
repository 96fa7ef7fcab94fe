extension Fix {
    /// The CBOR map of a fix as events store it, for other files that hold fixes. Equal fixes give equal bytes.
    package var packed: [UInt8] {
        var fields = FieldWriter(capacity: 192)
        write(to: &fields)
        return fields.finish()
    }

    /// The fix of these bytes.
    ///
    /// - Throws: ``CBORError`` for anything but the bytes of a ``packed``, unknown fields and bytes behind the map included.
    package init(packed bytes: UnsafeRawBufferPointer) throws(CBORError) {
        var fields = try FieldReader(bytes)
        self = try Fix(from: &fields)
        try fields.end()
    }
}
