internal import Glibc
internal import JSON
internal import LocationPush

/// The device tokens that the stand-in issued to phones, in a file so that they survive a restart.
///
/// The file `phones.jsonl` (mode 0600) grows by one line a change; of a token's lines the last one counts:
/// `{"token":"<hex>","bundleID":"…","environment":"development","unregisteredAt":1732147200123}`, where the last
/// member, in milliseconds, is there once the phone has gone.
struct PhoneRegistry: Sendable {
    struct Phone: Sendable, Equatable {
        let bundleID: String
        let environment: PushEnvironment
        var unregisteredAtMs: Int64?
    }

    /// Phones remembered at most; one more is refused.
    static let phonesMax = 100_000

    private let path: String
    private let descriptor: Int32
    private var phones: [String: Phone] = [:]

    init(directory: String) throws(TransportFault) {
        path = directory + "/phones.jsonl"
        descriptor = try PrivateFile.openForAppending(path)
        for line in try PrivateFile.read(path).split(separator: 0x0A) {
            // A line torn by a crash is skipped: its phone registers again.
            guard let said = try? JSONDocument.parse(Array(line)).root, let token = said["token"]?.string,
                let bundleID = said["bundleID"]?.string,
                let environment = said["environment"]?.string.flatMap(PushEnvironment.init(rawValue:))
            else { continue }
            phones[token] = Phone(
                bundleID: bundleID, environment: environment, unregisteredAtMs: said["unregisteredAt"]?.int)
        }
    }

    /// Closes the file; nothing may be changed after that.
    func closeFile() {
        close(descriptor)
    }

    subscript(token: String) -> Phone? { phones[token] }

    /// Makes a new token of 32 to 100 random bytes, as hex: senders must not rely on a length.
    mutating func register(bundleID: String, environment: PushEnvironment) throws(TransportFault) -> String {
        guard phones.count < Self.phonesMax else { throw TransportFault("too many phones") }
        let token = hex((0..<Int.random(in: 32...100)).map { _ in UInt8.random(in: 0...255) })
        try set(token, Phone(bundleID: bundleID, environment: environment))
        return token
    }

    /// Marks a token as gone since `now`, unless it already was.
    mutating func unregister(_ token: String, atMs now: Int64) throws(TransportFault) {
        guard var phone = phones[token], phone.unregisteredAtMs == nil else { return }
        phone.unregisteredAtMs = now
        try set(token, phone)
    }

    private mutating func set(_ token: String, _ phone: Phone) throws(TransportFault) {
        var line = JSONWriter()
        line.beginObject()
        line.field("token", token)
        line.field("bundleID", phone.bundleID)
        line.field("environment", phone.environment.rawValue)
        line.field("unregisteredAt", phone.unregisteredAtMs)
        line.endObject()
        try PrivateFile.append(line.bytes + [0x0A], to: descriptor, path: path)
        phones[token] = phone
    }
}
