// A trust policy (C2SP tlog-policy): which logs one believes, and which witnesses must have cosigned.
//
//     log where.example/whereabouts/7f3c/p/k2m9+5a1d9c20+AQ3x…
//     witness anna witness.example/anna+72ba1d4b+BO1l…
//     witness ben  ben.example/w+0c11ab29+BKq9…
//     group friends any anna ben
//     quorum friends
//
// Lines have fields with spaces or tabs between them; lines that begin with # and empty ones are ignored. Names are octets.

/// Whom a verifier trusts, and how many of them must agree.
package struct TrustPolicy: Equatable, Sendable {
    /// The longest policy file in bytes.
    package static let bytesMax = 256 << 10
    /// The most logs, the most witnesses, and the most groups. C2SP asks for 32 of each at least.
    package static let entriesMax = 64

    /// A witness, by the name that it has in this file only.
    package struct Witness: Equatable, Sendable {
        /// Octets, usually UTF-8.
        package let name: [UInt8]
        package let key: NoteVerifier
        /// Where to reach it, as the file says; not used to verify.
        package let address: String?
    }

    /// Witnesses and groups that count together.
    private struct Group: Equatable, Sendable {
        let name: [UInt8]
        let threshold: Int
        let members: [Member]
    }

    private enum Member: Equatable, Sendable {
        case witness(Int)
        case group(Int)
    }

    /// The keys of the logs. None means that the application knows the log otherwise.
    package private(set) var logs: [NoteVerifier] = []
    package private(set) var witnesses: [Witness] = []
    private var groups: [Group] = []
    /// `nil` for `quorum none`.
    private var quorum: Member?

    /// The policy that believes one log without a witness.
    package init(log: NoteVerifier) {
        logs = [log]
    }

    /// Reads a policy file.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` with the number of the line that breaks a rule.
    package init(parsing bytes: [UInt8]) throws(TransparencyError) {
        guard bytes.count <= Self.bytesMax else {
            throw .malformed("a policy has \(Self.bytesMax) bytes at most")
        }
        guard bytes.allSatisfy({ $0 == 9 || $0 == 10 || $0 >= 32 && $0 != 127 }) else {
            throw .malformed("a policy has no control characters but tabs and line feeds")
        }
        var reading = Reading()
        for (index, line) in bytes.split(separator: NoteText.lineFeed, omittingEmptySubsequences: false).enumerated() {
            let fields = line.split(whereSeparator: { $0 == 9 || $0 == 32 }).map(Array.init)
            guard let first = fields.first, first[0] != UInt8(ascii: "#") else { continue }
            do throws(TransparencyError) {
                try read(fields, &reading)
            } catch {
                throw .malformed("line \(index + 1) of the policy: \(error)")
            }
        }
        guard reading.hasQuorum else { throw .malformed("a policy has a line \"quorum NAME\" or \"quorum none\"") }
    }

    /// The state while lines are read.
    private struct Reading {
        var members: [[UInt8]: Member] = [:]
        /// Names that are members of a group already: each counts in one way only.
        var used: Set<[UInt8]> = []
        var hasQuorum = false
    }

    private static let none = Array("none".utf8)

    private mutating func read(_ fields: [[UInt8]], _ reading: inout Reading) throws(TransparencyError) {
        switch String(decoding: fields[0], as: UTF8.self) {
        case "log" where (2...3).contains(fields.count):
            let key = try Self.key(fields[1])
            guard key.kind != .cosignature else { throw .malformed("the key is one of a witness") }
            guard !logs.contains(where: { $0.publicKey == key.publicKey }) else {
                throw .malformed("the key is there twice")
            }
            guard logs.count < Self.entriesMax else { throw .malformed("there are too many logs") }
            logs.append(key)
        case "witness" where (3...4).contains(fields.count):
            let key = try Self.key(fields[2])
            guard key.kind != .ed25519 else { throw .malformed("the key is not one for cosignatures") }
            guard !witnesses.contains(where: { $0.key.publicKey == key.publicKey }) else {
                throw .malformed("the key is there twice")
            }
            guard witnesses.count < Self.entriesMax else { throw .malformed("there are too many witnesses") }
            try Self.define(fields[1], .witness(witnesses.count), &reading)
            let address = fields.count == 4 ? String(decoding: fields[3], as: UTF8.self) : nil
            witnesses.append(Witness(name: fields[1], key: key, address: address))
        case "group" where fields.count >= 4:
            var members: [Member] = []
            for name in fields[3...] {
                guard let member = reading.members[name] else {
                    throw .malformed("a group has a member that no line above defines")
                }
                guard reading.used.insert(name).inserted else { throw .malformed("a name is member of two groups") }
                members.append(member)
            }
            let threshold: Int
            switch String(decoding: fields[2], as: UTF8.self) {
            case "any": threshold = 1
            case "all": threshold = members.count
            case let text:
                guard let number = NoteText.number(text), (1...Int64(members.count)).contains(number) else {
                    throw .malformed("the threshold is any, all, or a number from 1 to that of the members")
                }
                threshold = Int(number)
            }
            guard groups.count < Self.entriesMax else { throw .malformed("there are too many groups") }
            try Self.define(fields[1], .group(groups.count), &reading)
            groups.append(Group(name: fields[1], threshold: threshold, members: members))
        case "quorum" where fields.count == 2:
            guard !reading.hasQuorum else { throw .malformed("there are two quorums") }
            reading.hasQuorum = true
            if fields[1] == Self.none { return }
            guard let member = reading.members[fields[1]] else {
                throw .malformed("the quorum is none or a name that a line above defines")
            }
            quorum = member
        default:
            throw .malformed(
                "a line is log KEY [URL], witness NAME KEY [URL], group NAME any|all|NUMBER NAME…, or quorum NAME")
        }
    }

    private static func key(_ field: [UInt8]) throws(TransparencyError) -> NoteVerifier {
        guard let text = String(validating: field, as: UTF8.self) else { throw .malformed("the key is not UTF-8") }
        return try NoteVerifier(text: text)
    }

    private static func define(
        _ name: [UInt8], _ member: Member, _ reading: inout Reading
    ) throws(TransparencyError) {
        guard name != none else { throw .malformed("the name none is taken") }
        guard reading.members.updateValue(member, forKey: name) == nil else {
            throw .malformed("a name is defined twice")
        }
    }

    // MARK: Judging

    /// A checkpoint that satisfies a policy.
    package struct Verdict: Equatable, Sendable {
        package let checkpoint: Checkpoint
        /// The key of the log that signed.
        package let log: NoteVerifier
        /// The cosignatures of witnesses that the policy names, with their times.
        package let cosignatures: [VerifiedSignature]
    }

    /// Whether the witnesses with these keys satisfy the quorum.
    package func isQuorum(_ keys: [NoteVerifier]) -> Bool {
        guard let quorum else { return true }
        return hasWitnessed(quorum, keys)
    }

    private func hasWitnessed(_ member: Member, _ keys: [NoteVerifier]) -> Bool {
        switch member {
        case .witness(let index): keys.contains(witnesses[index].key)
        // Groups name only groups above them, so this ends.
        case .group(let index):
            groups[index].members.count(where: { hasWitnessed($0, keys) }) >= groups[index].threshold
        }
    }

    /// The checkpoint of a note, if a log of the policy signed it under the name that is its origin, and enough witnesses
    /// cosigned.
    ///
    /// - Throws: ``TransparencyError/malformed(_:)`` when the text is no checkpoint, ``TransparencyError/unproven(_:)``
    ///   when a signature is wrong or missing.
    package func judge(_ note: SignedNote) throws(TransparencyError) -> Verdict {
        let checkpoint = try Checkpoint(text: note.text)
        let named = logs.filter { $0.name.text.utf8.elementsEqual(checkpoint.origin.text.utf8) }
        guard let log = try note.verify(with: named).first?.key else {
            throw .unproven("no log of the policy has signed the checkpoint of \(checkpoint.origin)")
        }
        let cosignatures = try note.verify(with: witnesses.map(\.key))
        guard isQuorum(cosignatures.map(\.key)) else {
            throw .unproven("too few witnesses of the policy have cosigned the checkpoint")
        }
        return Verdict(checkpoint: checkpoint, log: log, cosignatures: cosignatures)
    }
}
