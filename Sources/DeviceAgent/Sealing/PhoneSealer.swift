internal import Cryptography
internal import Envelopes
internal import Foundation
internal import Gazetteer
internal import Geodesy
internal import JSON
internal import LocationSharingApp
internal import OpenedEnvelopes
internal import Whereabouts
internal import WireFormats

/// Seals a simulated phone's fixes with the keys of a file (`KeyFile`).
///
/// It reads the file at each call, so a key that is accepted or removed there counts at once. The key of the present period and the
/// cell of coarse answers are in the folder that the app and its extension share. It seals for keys of the file that the service
/// says are in use, so neither a push nor the service can supply a key.
///
/// It makes exact, kilometer and city answers, each sealed only for the askers with that precision. Without a gazetteer, the
/// city of an answer is the square degree, as in a service without one. A grant of place names alone is refused with the
/// reason `noFix`.
struct PhoneSealer: LocationSealing {
    private let keys: String
    private let state: String
    private let gazetteer: Gazetteer?

    /// - Parameters:
    ///   - keys: The path of the owner's keys.
    ///   - folder: The folder that the app and its extension share.
    ///   - gazetteer: For the centers of cities.
    init(keys: String, folder: String, gazetteer: Gazetteer? = nil) {
        (self.keys, state, self.gazetteer) = (keys, folder + "/sealing.json", gazetteer)
    }

    /// The service takes at most 100 envelopes in one request; the rest is for keys of the period.
    private static let fixesPerMessage = 80

    func answer(_ fix: Data?, to questions: Data) -> [Data] {
        guard let asked = PhoneQuestions(questions) else { return [] }
        var body = EnvelopeBody()
        guard let file = try? KeyFile(path: keys) else {
            for question in asked.questions { body.refuse(question.query, .keyUnavailable) }
            return body.messages
        }
        var state = SealingState(path: state)
        for question in asked.questions {
            let recipients = Self.recipients(question.reader, file)
            guard !recipients.isEmpty else {
                body.refuse(question.query, .recipientNotApproved)
                continue
            }
            guard let fix = fix.flatMap(Self.fixes)?.last, let sealed = tiered(fix, question.precision, &state),
                let envelope = try? AnswerEnvelope(
                    sealing: sealed, from: asked.device, answering: question.query, as: Identifier128.random(),
                    for: recipients, signedBy: file.identity)
            else {
                body.refuse(question.query, .noFix)
                continue
            }
            body.add(envelope.bytes)
        }
        state.write()
        return body.messages
    }

    func history(_ fixes: Data, readers questions: Data) -> [Data] {
        guard let asked = PhoneQuestions(questions), let file = try? KeyFile(path: keys) else { return [] }
        let fixes = Self.fixes(fixes)
        guard let first = fixes.first else { return [] }
        var state = SealingState(path: state)
        let recipients = asked.readers.flatMap { Self.recipients($0, file) }
        guard !recipients.isEmpty else { return [] }
        var body = EnvelopeBody()
        let (period, isNew) = state.period(for: recipients, at: first.timestamp)
        // A large circle needs several.
        for start in stride(from: 0, to: isNew ? recipients.count : 0, by: Envelope.maximumRecipients) {
            let some = Array(recipients[start..<min(start + Envelope.maximumRecipients, recipients.count)])
            guard
                let envelope = try? PeriodEnvelope(
                    sealing: period.key, of: asked.device, period: period.id, from: period.from, tier: .exact,
                    for: some,
                    signedBy: file.identity)
            else { return [] }
            body.add(envelope.bytes)
        }
        for fix in fixes.prefix(Self.fixesPerMessage) {
            guard
                let envelope = try? TrackEnvelope(
                    sealing: TieredFix(exact: fix), from: asked.device, in: period.id, key: period.key,
                    as: Identifier128.random(),
                    signedBy: file.identity)
            else { continue }
            body.add(envelope.bytes)
        }
        state.write()
        return body.messages
    }

    /// The fix as a precision shows it; `nil` for one that the phone cannot make.
    private func tiered(_ fix: Fix, _ precision: EnvelopeTier?, _ state: inout SealingState) -> TieredFix? {
        switch precision {
        case .exact: TieredFix(exact: fix)
        case .kilometer: TieredFix(kilometer: fix, in: state.held(fix.coordinate))
        case .city:
            TieredFix(
                city: Fix(timestamp: fix.timestamp, coordinate: cityCenter(of: state.held(fix.coordinate).center)))
        case nil: nil
        }
    }

    /// As the service computes it.
    private func cityCenter(of coordinate: Coordinate) -> Coordinate {
        gazetteer?.placemark(at: coordinate, using: GeocentricTransform()).localityCenter
            ?? coordinate.squareDegreeCenter
    }

    /// The accepted keys of a person that are in use.
    private static func recipients(
        _ reader: PhoneQuestions.Reader, _ file: KeyFile
    ) -> [Curve25519.KeyAgreement.PublicKey] {
        let accepted =
            reader.person == file.person
            ? file.recipients.map(\.key.publicKey) : file.known(reader.person)?.keys ?? []
        return accepted.filter { reader.keys.contains(KeyID(of: $0)) }
    }

    /// The fixes of a body of `POST /v1/fixes`, by their time.
    private static func fixes(_ body: Data) -> [Fix] {
        let reports = FixJSON.reports(from: [UInt8](body), now: Timestamp(milliseconds: .max / 4))
        let fixes = reports.compactMap { if case .fix(let fix, _) = $0 { fix } else { nil } }
        return fixes.sorted { $0.timestamp < $1.timestamp }
    }

}

/// The answer of `GET /v1/devices/*/questions`.
private struct PhoneQuestions {
    /// A person who may open something, with the names of the keys that are in use.
    struct Reader {
        let person: Handle
        let keys: Set<KeyID>
    }

    /// An open query.
    struct Question {
        let query: QueryID
        let reader: Reader
        /// `nil` for what no phone can make.
        let precision: EnvelopeTier?
    }

    let device: EnvelopeDevice
    let questions: [Question]
    /// Those who may read the history, the owner among them.
    let readers: [Reader]

    init?(_ body: Data) {
        guard let root = (try? JSONDocument.parse([UInt8](body)))?.root, let device = root["device"]?.int else {
            return nil
        }
        self.device = EnvelopeDevice(rawValue: device)
        questions = (root["questions"]?.array.map { Array($0) } ?? []).compactMap { item in
            guard let query = item["query"]?.string.flatMap({ QueryID($0) }), let reader = Reader(item) else {
                return nil
            }
            let precision = EnvelopeTier.allCases.first { $0.precision.word == item["precision"]?.string }
            return Question(query: query, reader: reader, precision: precision)
        }
        readers = (root["readers"]?.array.map { Array($0) } ?? []).compactMap { Reader($0) }
    }
}

extension PhoneQuestions.Reader {
    fileprivate init?(_ item: JSONValue) {
        guard let person = item["person"]?.string.flatMap({ Handle($0) }) else { return nil }
        self.person = person
        keys = Set(
            (item["keys"]?.array.map { Array($0) } ?? []).compactMap { $0.string.flatMap { KeyID($0) } })
    }
}

/// A body of `POST /v1/envelopes`.
private struct EnvelopeBody {
    private var envelopes: [[UInt8]] = []
    private var refusals: [(query: QueryID, reason: SealingRefusal)] = []

    mutating func add(_ envelope: [UInt8]) { envelopes.append(envelope) }
    mutating func refuse(_ query: QueryID, _ reason: SealingRefusal) { refusals.append((query, reason)) }

    /// One message, or none if there is nothing to say.
    var messages: [Data] {
        guard !envelopes.isEmpty || !refusals.isEmpty else { return [] }
        var writer = JSONWriter()
        writer.beginObject()
        writer.array("envelopes") { array in for envelope in envelopes { array.value(Base64.encode(envelope)) } }
        writer.array("refused") { array in
            for refusal in refusals {
                array.beginObject()
                array.field("query", refusal.query.description)
                array.field("reason", refusal.reason.word)
                array.endObject()
            }
        }
        writer.endObject()
        return [Data(writer.bytes)]
    }
}

/// What the phone remembers from one fix to the next: the key of the present period and for whom it was sealed, and the cell of
/// coarse answers. The app and its extension share it.
private struct SealingState {
    /// A stretch of the history with one key.
    struct Period {
        let id: Identifier128
        let key: SymmetricKey
        let from: Timestamp
        /// The keys that it was sealed for.
        var recipients: Set<KeyID>
    }

    private let path: String
    private var period: Period?
    private var cell: HeldCell?

    init(path: String) {
        self.path = path
        guard let root = (try? readFile(path)).flatMap({ try? JSONDocument.parse($0).root }) else { return }
        func bytes(_ name: String) -> [UInt8]? { root[name]?.string.flatMap { Hex.decode($0) } }
        if let id = bytes("period").flatMap({ $0.withUnsafeBytes { Identifier128(bytes: $0) } }),
            let key = bytes("key"),
            key.count == SymmetricKey.byteCount, let from = root["from"]?.int
        {
            let ids = (root["recipients"]?.array.map { Array($0) } ?? []).compactMap { $0.string.flatMap { KeyID($0) } }
            period = Period(
                id: id, key: SymmetricKey(bytes: key), from: Timestamp(milliseconds: from), recipients: Set(ids))
        }
        if let latitude = root["cellLatitude"]?.double, let longitude = root["cellLongitude"]?.double,
            let center = try? Coordinate(latitude: latitude, longitude: longitude),
            let width = root["cellWidth"]?.double
        {
            cell = HeldCell(center: center, widthDegrees: width)
        }
    }

    /// The present period: a new one each UTC day, and at once when someone for whom the last one was sealed may no longer read. If
    /// someone has been added, the same key is sealed again, for all.
    mutating func period(
        for recipients: [Curve25519.KeyAgreement.PublicKey], at time: Timestamp
    ) -> (Period, isNew: Bool) {
        let ids = Set(recipients.map { KeyID(of: $0) })
        let day: Int64 = 86_400_000
        if var held = period, held.from.milliseconds / day == time.milliseconds / day, held.recipients.isSubset(of: ids)
        {
            let isNew = held.recipients != ids
            held.recipients = ids
            period = held
            return (held, isNew)
        }
        let made = Period(id: .random(), key: .random(), from: time, recipients: ids)
        period = made
        return (made, true)
    }

    /// The cell of coarse answers, which is kept while it holds the coordinate with its margin.
    mutating func held(_ coordinate: Coordinate) -> HeldCell {
        let held = cell.flatMap { $0.keeps(coordinate) ? $0 : nil } ?? HeldCell(around: coordinate)
        cell = held
        return held
    }

    func write() {
        var writer = JSONWriter()
        writer.beginObject()
        if let period {
            writer.field("period", Hex.encode(period.id.bytes))
            writer.field("key", period.key.withBytes { Hex.encode(Array($0)) })
            writer.field("from", period.from.milliseconds)
            writer.array("recipients") { array in for id in period.recipients.sorted() { array.value(id.description) } }
        }
        if let cell {
            writer.field("cellLatitude", cell.center.latitude)
            writer.field("cellLongitude", cell.center.longitude)
            writer.field("cellWidth", cell.widthDegrees)
        }
        writer.endObject()
        // Without room on the disk, the next call makes a new period.
        try? writeFile(writer.bytes, to: path)
    }
}

extension Identifier128 {
    /// A new name of a fix or a period. Swift's generator takes its bits from the system's.
    fileprivate static func random() -> Identifier128 {
        Identifier128(random: .random(in: .min ... .max), .random(in: .min ... .max))
    }
}
