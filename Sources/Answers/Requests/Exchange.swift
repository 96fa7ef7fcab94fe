import Cryptography
package import HTTPServer
package import JSON
import Log
package import Whereabouts
import WireFormats

/// One request together with its id, its caller and the variable parts of its path.
///
/// The readers of parameters throw 400 for a wrong form or range, and 422 for a value that was not given to the caller.
package struct Exchange: Sendable {
    /// The request, with its whole body.
    package let request: HTTPRequest
    /// The parts of the path that the route writes as `*`, in order.
    package let parameters: [String]
    /// The id in the answer's header `Whereabouts-Request` and in the `correlation` of all events that the request
    /// makes.
    package let id: RequestID
    /// The authenticated caller; the house without scopes for a route without credentials.
    package let caller: Caller
    /// The caller's `Idempotency-Key`, if the request has one and the route accepts it.
    package var key: RequestKey?

    package init(request: HTTPRequest, parameters: [String], id: RequestID, caller: Caller, key: RequestKey? = nil) {
        self.request = request
        self.parameters = parameters
        self.id = id
        self.caller = caller
        self.key = key
    }

    /// 32 secret bytes: random ones, or, if the request has a key, the same for each repetition.
    package var secretBytes: [UInt8] { key?.bytes ?? randomBytes(32) }

    /// The id of a query that this request makes; the same for each repetition with a key.
    package var newQueryID: QueryID {
        guard let words = key.map({ $0.bytes }).flatMap({ Digest(bytes: $0)?.words }) else { return .random() }
        return QueryID(random: words.0, words.1)
    }

    /// A person's or device's handle in the path. A text that is not a handle is refused like an unknown handle.
    ///
    /// - Parameter index: Which variable part of the path, from 0.
    package func handle(_ index: Int) throws(Problem) -> Handle {
        guard let handle = Handle(parameters[index]) else { throw .noSuchPerson }
        return handle
    }

    /// The body as a JSON object with no other members than `keys`.
    ///
    /// - Throws: 400 if the body is not a JSON object or has another member; 422 if it is JSON beyond the bounds.
    package func object(_ keys: String...) throws(Problem) -> JSONValue {
        let document: JSONDocument
        do throws(JSONError) { document = try JSONDocument.parse(request.body) } catch {
            throw .unreadable(error)
        }
        guard document.root.kind == .object else { throw .invalid("The body must be a JSON object.") }
        try document.root.takeOnly(keys, of: "this body")
        return document.root
    }

    /// A time in the query of the URL: Unix seconds or ISO 8601; `nil` if it is absent.
    package func time(_ name: String) throws(Problem) -> Timestamp? {
        guard let text = request.parameter(name) else { return nil }
        if let seconds = Double(text), let time = Timestamp(seconds: seconds) { return time }
        if let time = ISO8601.parse(text) { return time }
        throw .invalid("\"\(name)\" must be Unix seconds or ISO 8601, for example 2026-05-01T08:00:00Z.")
    }

    /// A whole number in the query of the URL, within a range; `value` if it is absent.
    package func integer(_ name: String, in range: ClosedRange<Int64>, default value: Int64) throws(Problem) -> Int64 {
        guard let text = request.parameter(name) else { return value }
        guard let number = Int64(text), range.contains(number) else {
            throw .invalid("\"\(name)\" must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// A number of the log. Only the operator sees and sends these; people use ``References``.
    package func logNumber(_ name: String) throws(Problem) -> Int64? {
        guard let text = request.parameter(name) else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw .refused("\"\(name)\" must be a number from an earlier answer to the operator, for example 31.")
        }
        return number
    }

    /// A flag in the query of the URL; `false` if it is absent.
    package func flag(_ name: String) throws(Problem) -> Bool {
        switch request.parameter(name) {
        case nil, "false": false
        case "true": true
        default: throw .invalid("\"\(name)\" must be true or false.")
        }
    }

    /// A whole number in the query of the URL; `nil` if it is absent.
    package func optionalInteger(_ name: String) throws(Problem) -> Int64? {
        guard let text = request.parameter(name) else { return nil }
        guard let number = Int64(text) else { throw .invalid("\"\(name)\" must be a whole number.") }
        return number
    }

    /// The operator's purpose for a read, from the header `Whereabouts-Purpose`: percent-encoded UTF-8 of at most
    /// `Limits.purposeCharacters` characters. `nil` if it is absent or empty.
    package func purpose() throws(Problem) -> String? {
        guard let text = request.header("whereabouts-purpose") else { return nil }
        guard let purpose = Self.percentDecoded(text), purpose.unicodeScalars.count <= Limits.purposeCharacters else {
            throw .invalid(
                "The header Whereabouts-Purpose must be percent-encoded UTF-8 of at most \(Limits.purposeCharacters) characters."
            )
        }
        return purpose.isEmpty ? nil : purpose
    }

    /// The text with each `%XX` replaced by its byte; `nil` if an escape is malformed or the bytes are not UTF-8.
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
    /// A time: Unix seconds as a number, or ISO 8601 text. `nil` if it is absent or null.
    package func optionalTime(_ name: String) throws(Problem) -> Timestamp? {
        guard let value = self[name], !value.isNull else { return nil }
        if let seconds = value.double, let time = Timestamp(seconds: seconds) { return time }
        if let text = value.string, let time = ISO8601.parse(text) { return time }
        throw .invalid("\"\(name)\" must be Unix seconds or ISO 8601, for example 2026-05-01T08:00:00Z.")
    }

    /// A required text of the body.
    package func requiredText(_ name: String) throws(Problem) -> String {
        guard let text = self[name]?.string else { throw .invalid("\"\(name)\" is missing or not a text.") }
        return text
    }

    /// A required handle of the body.
    package func handle(_ name: String) throws(Problem) -> Handle {
        guard let handle = Handle(try requiredText(name)) else {
            throw .invalid(
                "\"\(name)\" must be 1 to 63 of a–z, 0–9, \".\", \"_\", \"-\", and begin with a letter or digit.")
        }
        return handle
    }

    /// An optional text of the body; `nil` if it is absent or null.
    package func optionalText(_ name: String) throws(Problem) -> String? {
        guard let value = self[name], !value.isNull else { return nil }
        guard let text = value.string else { throw .invalid("\"\(name)\" must be a text.") }
        return text
    }

    /// An optional flag of the body; `value` if it is absent or null.
    package func flag(_ name: String, default value: Bool) throws(Problem) -> Bool {
        guard let given = self[name], !given.isNull else { return value }
        guard let flag = given.bool else { throw .invalid("\"\(name)\" must be true or false.") }
        return flag
    }

    /// An optional whole number of the body; `nil` if it is absent or null.
    package func optionalInteger(_ name: String) throws(Problem) -> Int64? {
        guard let value = self[name], !value.isNull else { return nil }
        guard let number = value.int else { throw .invalid("\"\(name)\" must be a whole number.") }
        return number
    }
}

extension Problem {
    /// The problem of a body that is not JSON (400), or is JSON beyond the bounds (422).
    package static func unreadable(_ error: JSONError) -> Problem {
        switch error {
        case .tooDeep, .invalidString, .invalidNumber, .duplicateKey: .refused("The body cannot be read: \(error)")
        default: .invalid("The body is not JSON: \(error)")
        }
    }
}

extension JSONValue {
    /// - Parameter what: The object, for the sentence, for example `"file"`.
    /// - Throws: 400 if the object has a member that is not among `keys`.
    package func takeOnly(_ keys: [String], of what: String) throws(Problem) {
        guard let members else { return }
        for (key, _) in members where !keys.contains(key) {
            throw .unknown(key, "a member of \(what)", takes: keys)
        }
    }
}
