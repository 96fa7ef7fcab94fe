import Cryptography
import HTTPServer
import JSON
import Whereabouts
import WireFormats

/// One request on its way through the door: what came, what the route took from the path, and who asks.
struct Exchange: Sendable {
    let request: HTTPRequest
    /// The parts of the path that the route leaves open, in order.
    let parameters: [String]
    let id: RequestID
    let caller: Caller
    /// The caller's own key for the request, if it came with one and the route takes it.
    var key: RequestKey?

    /// 32 bytes that nobody can tell: random ones, or the same for the same request.
    var secretBytes: [UInt8] { key?.bytes ?? randomBytes(32) }

    /// What a query that the request makes is called.
    var newQueryID: QueryID {
        guard let words = key.map({ $0.bytes }).flatMap({ Digest(bytes: $0)?.words }) else { return .random() }
        return QueryID(random: words.0, words.1)
    }

    /// A person's or device's handle in the path; a text that is none is as unknown as a name nobody has.
    func handle(_ index: Int) throws(Problem) -> Handle {
        guard let handle = Handle(parameters[index]) else { throw .noSuchPerson }
        return handle
    }

    /// The number of the thing that the path names, as the caller names it.
    func number(_ index: Int, _ kind: References.Kind, _ service: Service) throws(Problem) -> Int64 {
        let found = service.references(for: caller).number(parameters[index], kind)
        guard let number = found, number > 0 else { throw .notFound }
        return number
    }

    /// The body as a JSON object that has no members except `keys`.
    func object(_ keys: String...) throws(Problem) -> JSONValue {
        let document: JSONDocument
        do throws(JSONError) { document = try JSONDocument.parse(request.body) } catch {
            throw .unreadable(error)
        }
        guard let members = document.root.members else { throw .invalid("The body must be a JSON object.") }
        for (key, _) in members where !keys.contains(key) {
            throw .unknown(key, "a member of this body", takes: keys)
        }
        return document.root
    }

    /// A moment in the query of the URL: Unix seconds or ISO 8601.
    func time(_ name: String) throws(Problem) -> Timestamp? {
        guard let text = request.parameter(name) else { return nil }
        if let seconds = Double(text), let time = Timestamp(seconds: seconds) { return time }
        if let time = ISO8601.parse(text) { return time }
        throw .invalid("\"\(name)\" must be Unix seconds or a time like 2026-05-01T08:00:00Z.")
    }

    func integer(_ name: String, in range: ClosedRange<Int64>, default value: Int64) throws(Problem) -> Int64 {
        guard let text = request.parameter(name) else { return value }
        guard let number = Int64(text), range.contains(number) else {
            throw .invalid("\"\(name)\" must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// A number of the log, as the operator sees it; people have references instead, in a form of their own.
    func logNumber(_ name: String) throws(Problem) -> Int64? {
        guard let text = request.parameter(name) else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw .refused("\"\(name)\" must be a number that an earlier answer gave to the operator, for example 31.")
        }
        return number
    }

    func flag(_ name: String) throws(Problem) -> Bool {
        switch request.parameter(name) {
        case nil, "false": false
        case "true": true
        default: throw .invalid("\"\(name)\" must be true or false.")
        }
    }

    func optionalInteger(_ name: String) throws(Problem) -> Int64? {
        guard let text = request.parameter(name) else { return nil }
        guard let number = Int64(text) else { throw .invalid("\"\(name)\" must be a whole number.") }
        return number
    }

    /// Why the operator reads, as the header says.
    func purpose() throws(Problem) -> String? {
        guard let text = request.header("whereabouts-purpose") else { return nil }
        guard let purpose = Self.percentDecoded(text), purpose.unicodeScalars.count <= Limits.purposeCharacters else {
            throw .invalid(
                "The header Whereabouts-Purpose must be percent-encoded UTF-8 of at most \(Limits.purposeCharacters) characters."
            )
        }
        return purpose.isEmpty ? nil : purpose
    }

    private static func percentDecoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self).lowercased())
            else {
                return nil
            }
            bytes.append(contentsOf: value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension JSONValue {
    /// A moment: Unix seconds as a number, or ISO 8601 text.
    func time(_ name: String) throws(Problem) -> Timestamp? {
        guard let value = self[name], !value.isNull else { return nil }
        if let seconds = value.double, let time = Timestamp(seconds: seconds) { return time }
        if let text = value.string, let time = ISO8601.parse(text) { return time }
        throw .invalid("\"\(name)\" must be Unix seconds or a time like 2026-05-01T08:00:00Z.")
    }

    func text(_ name: String) throws(Problem) -> String {
        guard let text = self[name]?.string else { throw .invalid("\"\(name)\" is missing or not a text.") }
        return text
    }

    func handle(_ name: String) throws(Problem) -> Handle {
        guard let handle = Handle(try text(name)) else {
            throw .invalid(
                "\"\(name)\" must be 1 to 63 of a–z, 0–9, \".\", \"_\", \"-\", and begin with a letter or digit.")
        }
        return handle
    }

    func optionalText(_ name: String) throws(Problem) -> String? {
        guard let value = self[name], !value.isNull else { return nil }
        guard let text = value.string else { throw .invalid("\"\(name)\" must be a text.") }
        return text
    }

    func flag(_ name: String, default value: Bool) throws(Problem) -> Bool {
        guard let given = self[name], !given.isNull else { return value }
        guard let flag = given.bool else { throw .invalid("\"\(name)\" must be true or false.") }
        return flag
    }

    func optionalInteger(_ name: String) throws(Problem) -> Int64? {
        guard let value = self[name], !value.isNull else { return nil }
        guard let number = value.int else { throw .invalid("\"\(name)\" must be a whole number.") }
        return number
    }
}

extension Problem {
    /// Of a body that is no JSON, or JSON beyond what is taken here.
    static func unreadable(_ error: JSONError) -> Problem {
        switch error {
        case .tooDeep, .invalidString, .invalidNumber, .duplicateKey: .refused("The body cannot be read: \(error)")
        default: .invalid("The body is not JSON: \(error)")
        }
    }
}
