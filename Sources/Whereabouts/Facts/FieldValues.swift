// How each type of the vocabulary is stored as a field.

extension Precision: WordValue { package static let form = FieldForm.words("precision", Precision.self) }
extension RejectionReason: WordValue { package static let form = FieldForm.words("rejection", RejectionReason.self) }
extension PushEnvironment: WordValue { package static let form = FieldForm.words("environment", PushEnvironment.self) }
extension QueryEnd: WordValue { package static let form = FieldForm.words("end", QueryEnd.self) }
extension PushWithheld: WordValue { package static let form = FieldForm.words("withheld", PushWithheld.self) }
extension LocationPushAttempt.Outcome: WordValue {
    package static let form = FieldForm.words("outcome", LocationPushAttempt.Outcome.self)
}
extension LocationQuery.Initiation: WordValue {
    package static let form = FieldForm.words("initiation", LocationQuery.Initiation.self)
}
extension LocationRead.Question: WordValue {
    package static let form = FieldForm.words("reading", LocationRead.Question.self)
}
extension AuthorizationStatus: WordValue {
    package static let form = FieldForm.words("authorization-status", AuthorizationStatus.self)
}
extension AccuracyAuthorization: WordValue {
    package static let form = FieldForm.words("accuracy-authorization", AccuracyAuthorization.self)
}
extension KeyWithdrawal: WordValue { package static let form = FieldForm.words("key-withdrawal", KeyWithdrawal.self) }
extension SealingRefusal: WordValue {
    package static let form = FieldForm.words("sealing-refusal", SealingRefusal.self)
}
extension Correction.Kind: WordValue {
    package static let form = FieldForm.words("correction-kind", Correction.Kind.self)
}

extension Int64: FieldValue {
    package static let form = FieldForm.count
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.integer(key, self) }
    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> Int64? {
        try fields.integer(key)
    }
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .integer(self)) }
}

extension Bool: FieldValue {
    package static let form = FieldForm.bool
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.bool(key, self) }
    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> Bool? {
        try fields.bool(key)
    }
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .bool(self)) }
}

extension Double: FieldValue {
    package static let form = FieldForm.real
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.double(key, self) }
    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> Double? {
        try fields.double(key)
    }
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .real(self)) }
}

/// A latitude or longitude as a field: a whole number of 10⁻⁷ degrees where that is exact.
struct Degrees: FieldValue {
    let value: Double
    init(_ value: Double) { self.value = value }

    static let form = FieldForm.latitude
    func write(_ key: Int64, to fields: inout FieldWriter) { fields.degrees(key, value) }
    static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> Degrees? {
        try fields.degrees(key).map(Degrees.init)
    }
    func show(as name: String, in shown: inout ShownFields) { shown.add(name, .real(value)) }
}

extension String: FieldValue {
    package static let form = FieldForm.text
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.text(key, self) }
    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> String? {
        try fields.text(key)
    }
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .text(self)) }
}

extension Handle: FieldValue {
    package static let form = FieldForm(
        "tstr", .texts(["walker", "a", "friend-2", "x.y_z"]))
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.text(key, text) }
    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> Handle? {
        guard let text = try fields.text(key) else { return nil }
        return try require(Handle(text))
    }
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .text(text)) }
}

extension Array: FieldValue where Element == UInt8 {
    package static var form: FieldForm { .bytes }
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.bytes(key, self) }
    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> [UInt8]? {
        try fields.bytes(key)
    }
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .bytes(self)) }
}

extension Timestamp: FieldValue {
    package static let form = FieldForm.moment
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.timestamp(key, self) }
    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> Timestamp? {
        try fields.timestamp(key)
    }
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .time(self)) }
}

extension Identifier128: FieldValue {
    package static let form = FieldForm.identifier
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.identifier(key, self) }
    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> Identifier128? {
        try fields.identifier(key)
    }
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .text(description)) }
}

extension KeyID: FieldValue {
    package static let form = FieldForm.identifier
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.identifier(key, value) }
    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> KeyID? {
        try fields.identifier(key).map { KeyID($0) }
    }
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .bytes(bytes)) }
}

extension Hash256: FieldValue {
    package static let form = FieldForm.hash
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.bytes(key, bytes) }
    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> Hash256? {
        try fields.hash(key)
    }
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .bytes(bytes)) }
}

extension PushTokenHash: FieldValue {
    package static let form = FieldForm("0..4294967295", .integers(0...Int64(UInt32.max)))
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.integer(key, Int64(rawValue)) }
    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> PushTokenHash? {
        guard let number = try fields.integer(key) else { return nil }
        return PushTokenHash(rawValue: try require(UInt32(exactly: number)))
    }
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .text(hex)) }
}

extension Verdict: FieldValue {
    package static let form = FieldForm.verdict
    package func write(_ key: Int64, to fields: inout FieldWriter) { fields.integer(key, code) }
    package static func read(_ key: Int64, from fields: inout FieldReader) throws(CBORError) -> Verdict? {
        guard let code = try fields.integer(key) else { return nil }
        return try require(Verdict(code: code))
    }

    /// The verdict in a word, and the `grant` or the `reason` of a refusal.
    package func show(as name: String, in shown: inout ShownFields) {
        switch self {
        case .own: shown.add(name, .text("own"))
        case .operatorOnRecord: shown.add(name, .text("operator"))
        case .granted(let grant):
            shown.add(name, .text("granted"))
            shown.add("grant", .integer(grant.rawValue))
        case .refused(let reason):
            shown.add(name, .text("refused"))
            shown.add("reason", .text(reason.word))
        }
    }
}

extension Scopes: IntegerValue {
    package static let form = FieldForm(
        "scopes", as: "1..255",
        note: "a sum: report 1, query 2, audit 4, manage 8, operate 16, session 32, sign-in 64, inspect 128",
        .integers(1...255))
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .texts(words)) }
}

extension FeedTopics: IntegerValue {
    package static let form = FieldForm(
        "topics", as: "0..\(FeedTopics.all.rawValue)",
        note: "a sum: "
            + words.enumerated().map { "\($0.element) \(Int64(1) << Int64($0.offset))" }.joined(separator: ", "),
        .integers(0...all.rawValue))
    package func show(as name: String, in shown: inout ShownFields) { shown.add(name, .texts(words)) }
}
