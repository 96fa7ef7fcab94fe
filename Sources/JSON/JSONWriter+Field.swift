/// Members in one call. One without a value is left out: where its absence must show, write ``JSONWriter/null()``.
extension JSONWriter {
    /// A string member.
    package mutating func field(_ key: String, _ value: String?) {
        guard let value else { return }
        self.key(key)
        self.value(value)
    }

    /// An integer member.
    package mutating func field(_ key: String, _ value: Int64?) {
        guard let value else { return }
        self.key(key)
        self.value(value)
    }

    /// An integer member.
    package mutating func field(_ key: String, _ value: Int?) {
        field(key, value.map(Int64.init))
    }

    /// A number member, in its shortest form.
    ///
    /// - Precondition: the number is finite.
    package mutating func field(_ key: String, _ value: Double?) {
        guard let value else { return }
        self.key(key)
        self.value(value)
    }

    /// A member that is true or false.
    package mutating func field(_ key: String, _ value: Bool?) {
        guard let value else { return }
        self.key(key)
        self.value(value)
    }

    /// A time in seconds with at most 3 decimals, as ``JSONWriter/unixSeconds(milliseconds:)`` writes it.
    package mutating func field(_ key: String, milliseconds: Int64?) {
        guard let milliseconds else { return }
        self.key(key)
        unixSeconds(milliseconds: milliseconds)
    }

    /// A value that is JSON already, as ``JSONWriter/raw(_:)`` writes it.
    package mutating func field(_ key: String, raw json: [UInt8]?) {
        guard let json else { return }
        self.key(key)
        raw(json)
    }

    /// An object whose members `body` writes.
    package mutating func object(_ key: String, _ body: (inout JSONWriter) -> Void) {
        self.key(key)
        beginObject()
        body(&self)
        endObject()
    }

    /// An array whose elements `body` writes.
    package mutating func array(_ key: String, _ body: (inout JSONWriter) -> Void) {
        self.key(key)
        beginArray()
        body(&self)
        endArray()
    }
}
