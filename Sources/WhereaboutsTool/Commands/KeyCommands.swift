import Cryptography
import Envelopes
import Glibc
import JSON
import Log
import OpenedEnvelopes
import Replies
import Whereabouts

/// `key add|list|pin|unpin|lost` and `device seal`: the keys of sealed locations.
enum KeyCommands {
    private static let owner = Options.handle("as", help: "whose keys; the command acts as this person")
    private static let keys = Options.text("keys", "KEYFILE", help: "the file with this person's secret keys")
    private static let another = Option.flag(
        "another", help: "make a further recipient key, to replace the last one later")
    private static let replaced = Option.flag("replaced", help: "the key is not lost: another one takes its place")
    private static let open = Option.flag("open", help: "take open fixes again")

    static let all = [
        Command(
            words: ["key", "add"], summary: "Make a person's keys for sealed locations, and publish them.",
            requires: [owner, keys], accepts: [another, Options.json],
            details: """
                Makes the file if there is none, readable by its owner only: an identity key, with which the person signs, and
                a recipient key, for which others seal. Without a copy of the file, nothing sealed for it can be opened.
                The phone that seals needs the same identity key.
                """, run: add),
        Command(
            words: ["key", "list"], summary: "List a person's public keys, with the safety number.",
            requires: [Options.person], accepts: [owner, keys, Options.json],
            details: """
                With --keys, checks the signatures and shows the safety number. Compare its sixty digits with what the other
                person sees, by voice or side by side: the service could have given you its own key.
                """, run: list),
        Command(
            words: ["key", "pin"], summary: "Accept the keys of another person: your phone may seal for them.",
            requires: [owner, Options.person, keys], accepts: [Options.json],
            details: """
                Checks the signatures, keeps the other person's identity key in the file, and publishes what you accept. If the
                identity key differs from the one that the file has, it changes nothing.
                """, run: pin),
        Command(
            words: ["key", "unpin"], summary: "Accept a key no longer.", operands: .one("KEY"), requires: [owner],
            accepts: [keys, Options.json],
            details:
                "With --keys, the key is removed from the file too, so that a phone with that file no longer seals for it.",
            run: unpin),
        Command(
            words: ["key", "lost"], summary: "Withdraw one of a person's own keys: nothing new is sealed for it.",
            operands: .one("KEY"), requires: [owner], accepts: [replaced, Options.json],
            details: "Envelopes that were sealed for it stay readable for those who have the key.", run: lost),
        Command(
            words: ["device", "seal"], summary: "Take only envelopes of a device: its open reports are refused.",
            operands: .one("NAME"), requires: [owner], accepts: [open, Options.json], run: seal),
    ]

    /// Reads a file of keys.
    static func file(_ path: String) throws(ToolError) -> KeyFile {
        do throws(KeyFile.Failure) { return try KeyFile(path: path) } catch { throw .data(error.description) }
    }

    private static func write(_ file: KeyFile, to path: String) throws(ToolError) {
        do throws(KeyFile.Failure) { try file.write(to: path) } catch { throw .data(error.description) }
    }

    /// Runs `body` with a client that acts as the person of `--as`.
    private static func acting<Value>(
        _ invocation: Invocation, _ person: Handle, _ body: (Client) throws(ToolError) -> Value
    ) throws(ToolError) -> Value {
        try House.withClient(invocation) { client throws(ToolError) in
            let acting = try client.acting(
                as: person, scopes: ["query", "manage"], seconds: AskCommand.tokenSeconds)
            return try body(acting)
        }
    }

    private static func add(_ invocation: Invocation) throws(ToolError) {
        let (person, path) = (invocation.required(owner), invocation.required(keys))
        var file: KeyFile
        let isNew = access(path, F_OK) != 0
        if isNew {
            do throws(KeyFile.Failure) { file = try KeyFile(of: person, at: .now) } catch {
                throw .data(error.description)
            }
        } else {
            file = try Self.file(path)
            guard file.person == person else { throw .data("\(path) has the keys of \(file.person.text).") }
            if invocation.has(another) { file.recipients.append(KeyFile.Recipient(key: .init(), madeAt: .now)) }
        }
        // Durable before anyone can seal for it.
        try write(file, to: path)
        try acting(invocation, person) { client throws(ToolError) in
            let identity = KeyStatement.identity(of: person, key: file.identity.publicKey, previous: nil)
            _ = try client.post(APIPath.peopleKeys.parts(person.text)) { body in
                body.field("kind", "identity")
                body.field("key", Hex.encode(file.identity.publicKey))
                body.field("signature", Hex.encode(identity.signature(by: file.identity)))
            }
            let withdrawn = try client.get(APIPath.peopleKeys.parts(person.text)).read(KeysAnswer.self).recipients
                .filter { $0.withdrawn != nil }.map(\.id)
            for recipient in file.recipients where !withdrawn.contains(recipient.id.description) {
                let key = recipient.key.publicKey.rawRepresentation
                let statement = KeyStatement.recipient(of: person, key: key, madeAt: recipient.madeAt)
                _ = try client.post(APIPath.peopleKeys.parts(person.text)) { body in
                    body.field("kind", "recipient")
                    body.field("key", Hex.encode(key))
                    body.field("signature", Hex.encode(statement.signature(by: file.identity)))
                    body.field("madeAt", milliseconds: recipient.madeAt.milliseconds)
                }
            }
        }
        if invocation.has(Options.json) { return show(file, invocation) }
        invocation.console.line(
            """
            \(isNew ? "Made" : "Published") the keys of \(person.text) in \(path):

              identity   \(KeyID(ofPublicKey: file.identity.publicKey))
            \(file.recipients.map { "  recipient  \($0.id)" }.joined(separator: "\n"))

            Keep a copy of the file: no one else has these keys.
            """)
    }

    private static func show(_ file: KeyFile, _ invocation: Invocation) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("person", file.person.text)
        writer.field("identity", KeyID(ofPublicKey: file.identity.publicKey).description)
        writer.array("recipients") { array in for recipient in file.recipients { array.value(recipient.id.description) }
        }
        writer.endObject()
        invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let person = invocation.required(Options.person)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            var reader = client
            if let owner = invocation[owner] {
                reader = try client.acting(as: owner, scopes: ["query"], seconds: AskCommand.tokenSeconds)
            }
            return try reader.get(APIPath.peopleKeys.parts(person.text))
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        let keys = try answer.read(KeysAnswer.self)
        guard let identity = keys.identity else {
            return invocation.console.note("\(person.text) has no identity key.")
        }
        var table = Table("KIND", "KEY", "SINCE", "")
        table.add("identity", identity.id, ReadCommands.time(identity.at), "")
        for key in keys.recipients {
            table.add("recipient", key.id, ReadCommands.time(key.madeAt), key.withdrawn ?? "")
        }
        invocation.console.result(table.text.utf8)
        guard let path = invocation[Self.keys] else { return }
        let own = try file(path)
        _ = try verified(keys, of: person, known: own.known(person))
        try showSafetyNumber(of: own, with: person, identity.key, invocation)
    }

    /// The keys in use of an answer, whose signatures are checked.
    ///
    /// - Parameter known: What the file has accepted of the person.
    /// - Throws: ``ToolError/data(_:)`` for a signature that does not fit, and for another identity than the known one.
    private static func verified(
        _ keys: KeysAnswer, of person: Handle, known: KeyFile.Known?
    ) throws(ToolError) -> KeyFile.Known {
        func bytes(_ text: String) -> [UInt8] { Hex.decode(text) ?? [] }
        guard let shown = keys.identity else { throw .data("\(person.text) has no identity key.") }
        let identity = bytes(shown.key)
        if let known, known.identity != identity {
            throw .data(
                "The service shows another identity key of \(person.text) than the one that you accepted. Ask \(person.text) whether it was replaced, and compare the safety number before you remove the old one from the file."
            )
        }
        var accepted: [Curve25519.KeyAgreement.PublicKey] = []
        for item in keys.recipients where item.withdrawn == nil {
            let statement = KeyStatement.recipient(
                of: person, key: bytes(item.key), madeAt: Timestamp(item.madeAt))
            guard statement.isSigned(bytes(item.signature), by: identity),
                let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes(item.key))
            else {
                throw .data(
                    "The service shows a key \(item.id) that \(person.text) did not sign. Nothing was accepted.")
            }
            accepted.append(key)
        }
        return KeyFile.Known(person: person, identity: identity, keys: accepted)
    }

    private static func showSafetyNumber(
        of file: KeyFile, with person: Handle, _ identity: String, _ invocation: Invocation
    ) throws(ToolError) {
        guard let groups = SafetyNumber.groups(of: file.identity.publicKey, and: Hex.decode(identity) ?? []) else {
            return
        }
        invocation.console.line(
            """

            The safety number of \(file.person.text) and \(person.text). Compare it by voice or side by side:

              \(groups[..<6].joined(separator: " "))
              \(groups[6...].joined(separator: " "))
            """)
    }

    private static func pin(_ invocation: Invocation) throws(ToolError) {
        let (owner, person, path) = (
            invocation.required(owner), invocation.required(Options.person), invocation.required(keys)
        )
        var file = try file(path)
        guard file.person == owner else { throw .data("\(path) has the keys of \(file.person.text).") }
        guard person != owner else { throw .usage("Your own keys need not be accepted.") }
        let known = try acting(invocation, owner) { client throws(ToolError) in
            let keys = try client.get(APIPath.peopleKeys.parts(person.text)).read(KeysAnswer.self)
            let known = try verified(keys, of: person, known: file.known(person))
            for key in known.keys {
                let id = KeyID(of: key)
                let statement = KeyStatement.pin(owner: person, identity: known.identity, key: id)
                _ = try client.post(APIPath.peoplePins.parts(owner.text)) { body in
                    body.field("person", person.text)
                    body.field("key", id.description)
                    body.field("signature", Hex.encode(statement.signature(by: file.identity)))
                }
            }
            return known
        }
        file.accept(known)
        try write(file, to: path)
        if invocation.has(Options.json) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("person", person.text)
            writer.array("keys") { array in for key in known.keys { array.value(KeyID(of: key).description) } }
            let groups = SafetyNumber.groups(of: file.identity.publicKey, and: known.identity)
            writer.field("safetyNumber", groups?.joined(separator: " "))
            writer.endObject()
            return invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        }
        let count = known.keys.count
        invocation.console.line(
            "\(owner.text) accepts \(count) \(count == 1 ? "key" : "keys") of \(person.text).")
        try showSafetyNumber(of: file, with: person, Hex.encode(known.identity), invocation)
    }

    /// The operand as the name of a key.
    private static func keyName(_ invocation: Invocation) throws(ToolError) -> KeyID {
        guard let name = KeyID(invocation.operands[0]) else {
            throw .usage(
                "\"\(invocation.command.name)\" takes a KEY: 32 hexadecimal digits, as \"key list\" shows them.")
        }
        return name
    }

    private static func unpin(_ invocation: Invocation) throws(ToolError) {
        let (owner, key) = (invocation.required(owner), try keyName(invocation))
        let answer = try acting(invocation, owner) { client throws(ToolError) in
            try client.delete(APIPath.peoplePin.parts(owner.text, key.description))
        }
        if let path = invocation[keys] {
            var file = try file(path)
            for var known in file.people {
                known.keys.removeAll { KeyID(of: $0) == key }
                file.accept(known)
            }
            try write(file, to: path)
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line("\(owner.text) no longer accepts the key \(key).")
    }

    private static func lost(_ invocation: Invocation) throws(ToolError) {
        let (owner, key) = (invocation.required(owner), try keyName(invocation))
        let reason = invocation.has(replaced) ? "replaced" : "lost"
        let answer = try acting(invocation, owner) { client throws(ToolError) in
            try client.delete(APIPath.peopleKey.parts(owner.text, key.description), query: [("reason", reason)])
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line("The key \(key) of \(owner.text) is withdrawn: nothing new is sealed for it.")
    }

    private static func seal(_ invocation: Invocation) throws(ToolError) {
        let (device, owner) = (try invocation.handle(), invocation.required(owner))
        let isSealed = !invocation.has(open)
        let answer = try acting(invocation, owner) { client throws(ToolError) in
            try client.put(APIPath.devicesSealing.parts(device.text)) { $0.field("sealed", isSealed) }
        }
        if invocation.has(Options.json) { return invocation.console.result(answer.jsonLine) }
        invocation.console.line(
            isSealed
                ? "The service takes only envelopes of \(device.text) from now on."
                : "The service takes open fixes of \(device.text) again.")
    }
}
