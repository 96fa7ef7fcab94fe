import Cryptography

// The lines of names in the file of a proof, before the entries:
//
//     name r8Vu2n0mVpjCrr7a6lTqB5A YmVu          the base 64 of "ben"
//
// Contents name people by references, so that a name can be erased while the entry stays provable. The lines ascend by
// reference, compared by bytes. They are not in the Merkle tree.

extension PersonProof {
    /// The most names.
    package static let namesMax = 100_000

    /// The name that the service gives for a reference in the contents of entries.
    package struct Name: Equatable, Sendable {
        /// The longest reference in bytes.
        package static let referenceBytesMax = 64
        /// The longest name in bytes of UTF-8.
        package static let textBytesMax = 256

        /// The reference: letters, digits, `-` and `_`. It always means the same person.
        package let reference: String
        /// The name of that person.
        package let text: String

        /// A name.
        ///
        /// - Throws: ``TransparencyError/malformed(_:)`` unless the reference has 1 to ``referenceBytesMax`` bytes of
        ///   `[A-Za-z0-9_-]`, and the name 1 to ``textBytesMax`` bytes without control characters.
        package init(
            reference: some StringProtocol, text: some StringProtocol
        ) throws(TransparencyError) {
            guard (1...Self.referenceBytesMax).contains(reference.utf8.count),
                reference.utf8.allSatisfy(NoteText.isWordByte)
            else {
                throw .malformed("a reference is 1 to \(Self.referenceBytesMax) letters, digits, - and _")
            }
            guard (1...Self.textBytesMax).contains(text.utf8.count),
                !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
            else {
                throw .malformed("a name has 1 to \(Self.textBytesMax) bytes and no control characters")
            }
            self.reference = String(reference)
            self.text = String(text)
        }

        /// The line in the file, with its line feed.
        var line: String { "name \(reference) \(Base64.encode(Array(text.utf8)))\n" }

        /// Whether the reference is the smaller one, compared by bytes.
        func precedes(_ other: Name) -> Bool { reference.utf8.lexicographicallyPrecedes(other.reference.utf8) }

        // `String` would take different spellings of an accent for equal.
        package static func == (a: Name, b: Name) -> Bool {
            a.reference == b.reference && a.text.utf8.elementsEqual(b.text.utf8)
        }
    }

    /// A reference that the house calls by another name than before.
    package struct Renaming: Equatable, Sendable, CustomStringConvertible {
        package let reference: String
        package let older: String
        package let newer: String

        package var description: String {
            "the house calls \(reference) \(newer), and called it \(older) in the older proof"
        }
    }

    /// The names at the beginning of these lines.
    ///
    /// - Parameter lines: those after the first of the file, with their indices in it.
    static func names(_ lines: ArraySlice<ArraySlice<UInt8>>) throws(TransparencyError) -> [Name] {
        var names: [Name] = []
        for (index, line) in zip(lines.indices, lines) where line.starts(with: "name ".utf8) {
            func malformed(_ reason: String) -> TransparencyError {
                .malformed("line \(index + 1) of the proof: \(reason)")
            }
            guard names.count == index - lines.startIndex else { throw malformed("names come before the entries") }
            guard names.count < namesMax else { throw malformed("a proof has \(namesMax) names at most") }
            let fields = NoteText.fields(String(decoding: line, as: UTF8.self))
            guard fields.count == 3, let bytes = NoteText.base64(fields[2]),
                let text = String(validating: bytes, as: UTF8.self)
            else { throw malformed("a name is written name REFERENCE BASE64") }
            let name: Name
            do throws(TransparencyError) { name = try Name(reference: fields[1], text: text) } catch {
                throw malformed(error.description)
            }
            guard names.last?.precedes(name) ?? true else {
                throw malformed("the references of names ascend, and each is there once")
            }
            names.append(name)
        }
        return names
    }

    /// The references that have another name here than in an older proof of the same log, ascending.
    ///
    /// A reference always means the same person. So the service has changed a name, or has given a wrong one. A name
    /// that only one of the proofs has is no renaming: it may be new, or erased.
    package func renamed(since older: PersonProof) -> [Renaming] {
        let before = Dictionary(older.names.map { ($0.reference, $0) }, uniquingKeysWith: { first, _ in first })
        return names.compactMap { name in
            guard let old = before[name.reference], old != name else { return nil }
            return Renaming(reference: name.reference, older: old.text, newer: name.text)
        }
    }

    /// As ``verify(policy:after:)``, with a proof that one had before in place of its checkpoint. The names must be those
    /// of the older proof, too.
    ///
    /// - Throws: ``TransparencyError`` with the fault, also of the older proof's checkpoint.
    package func verify(
        policy: TrustPolicy, since older: PersonProof
    ) throws(TransparencyError) -> TrustPolicy.Verdict {
        let verdict = try verify(policy: policy, after: policy.judge(older.note).checkpoint)
        if let renaming = renamed(since: older).first { throw .unproven(renaming.description) }
        return verdict
    }
}
