/// The directory has checked that the logs of these shards continue what it had checked before.
enum ShardsWitnessed: Fact {
    static let kind = EventKind.shardsWitnessed
    static let streams: FactStreams = .house
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: ShardSizes?
        if case .shardsWitnessed(let sizes)? = event { given = sizes }
        return .shardsWitnessed(try fact.clear.shape(given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }
}

extension ShardSizes: FieldShape {
    package static let forms: [[ShapeField]] = [
        [
            ShapeField(
                1, .shape("bstr"),
                "of each shard 72 bytes, big-endian: its number (8), the id of its log (16), epoch (8), size (8), root (32)"
            )
        ]
    ]

    package func write(to fields: inout FieldWriter) { fields.bytes(1, bytes) }

    package static func read(from fields: inout FieldReader) throws(CBORError) -> ShardSizes? {
        guard let bytes = try fields.bytes(1) else { return nil }
        return try require(ShardSizes(bytes: bytes))
    }

    package func show(in shown: inout ShownFields) {
        shown.add(
            "shards",
            .texts(
                all.map { size in
                    "\(size.shard.rawValue) \(size.log) epoch \(size.epoch) size \(size.size) root \(size.root.digits)"
                }))
    }
}

extension Hash256 {
    /// 64 hexadecimal digits.
    fileprivate var digits: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
