/// An envelope, which only its recipients can open.
package struct EnvelopeItem: Reply, Hashable {
    /// In base64.
    package var envelope: String
    /// `answer`, `track` or `period`.
    package var use: String
    /// The quarter of an hour: its beginning.
    package var from: Moment
    /// `exact`, `kilometer` or `city`.
    package var precision: String
    /// The device that sent it; `nil` if it is no longer known.
    package var device: String?
    /// The event that records it.
    package var number: Reference?
    /// When the service received it; only of an exact fix of a list, because a coarse one hides its time.
    package var received: Moment?

    package init(
        envelope: String, use: String, from: Moment, precision: String, device: String? = nil,
        number: Reference? = nil, received: Moment? = nil
    ) {
        (self.envelope, self.use, self.from, self.precision) = (envelope, use, from, precision)
        (self.device, self.number, self.received) = (device, number, received)
    }

    package static var invented: Self {
        Self(envelope: .invented, use: .invented, from: .invented, precision: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("envelope", &envelope)
        try members.required("use", .words(["answer", "track", "period"]), &use)
        try members.required("from", &from)
        try members.required("precision", .words(["exact", "kilometer", "city"]), &precision)
        try members.optional("device", .handle, &device)
        try members.optional("number", &number)
        try members.optional("received", &received)
    }
}

/// The public keys of a person.
package struct KeysAnswer: Reply, Hashable {
    package var person: String
    /// `nil` if the person has none, or has withdrawn it.
    package var identity: IdentityKeyItem?
    /// The recipient keys, with those that are withdrawn.
    package var recipients: [RecipientKeyItem]

    package init(person: String, identity: IdentityKeyItem? = nil, recipients: [RecipientKeyItem]) {
        (self.person, self.identity, self.recipients) = (person, identity, recipients)
    }

    package static var invented: Self { Self(person: .invented, recipients: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("person", .handle, &person)
        try members.optional("identity", &identity)
        try members.required("recipients", &recipients)
    }
}

/// The key with which a person signs.
package struct IdentityKeyItem: Reply, Hashable {
    /// 32 hexadecimal digits: the beginning of the key's SHA-256.
    package var id: String
    /// The Ed25519 public key, 64 hexadecimal digits.
    package var key: String
    /// By the key itself, 128 hexadecimal digits.
    package var signature: String
    /// When it was published.
    package var at: Moment

    package init(id: String, key: String, signature: String, at: Moment) {
        (self.id, self.key, self.signature, self.at) = (id, key, signature, at)
    }

    package static var invented: Self {
        Self(id: .invented, key: .invented, signature: .invented, at: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("key", &key)
        try members.required("signature", &signature)
        try members.required("at", &at)
    }
}

/// A recipient key.
package struct RecipientKeyItem: Reply, Hashable {
    /// 32 hexadecimal digits: the beginning of the key's SHA-256.
    package var id: String
    /// The X25519 public key, 64 hexadecimal digits.
    package var key: String
    /// When the client made it.
    package var madeAt: Moment
    /// By the owner's identity key, 128 hexadecimal digits.
    package var signature: String
    /// When it was published.
    package var at: Moment
    /// `replaced` or `lost`; `nil` while it is in use.
    package var withdrawn: String?

    package init(
        id: String, key: String, madeAt: Moment, signature: String, at: Moment, withdrawn: String? = nil
    ) {
        (self.id, self.key, self.madeAt, self.signature) = (id, key, madeAt, signature)
        (self.at, self.withdrawn) = (at, withdrawn)
    }

    package static var invented: Self {
        Self(id: .invented, key: .invented, madeAt: .invented, signature: .invented, at: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", &id)
        try members.required("key", &key)
        try members.required("madeAt", &madeAt)
        try members.required("signature", &signature)
        try members.required("at", &at)
        try members.optional("withdrawn", .words(["replaced", "lost"]), &withdrawn)
    }
}

/// A key of another person that a person accepts.
package struct PinItem: Reply, Hashable {
    /// The name of the recipient key, 32 hexadecimal digits.
    package var key: String
    /// The owner; `nil` once erased.
    package var person: String?
    /// By the identity key of the person who accepts, 128 hexadecimal digits.
    package var signature: String
    /// Whether the owner still uses it.
    package var inUse: Bool

    package init(key: String, person: String?, signature: String, inUse: Bool) {
        (self.key, self.person, self.signature, self.inUse) = (key, person, signature, inUse)
    }

    package static var invented: Self {
        Self(key: .invented, person: nil, signature: .invented, inUse: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("key", &key)
        try members.optional("person", .handle, &person)
        try members.required("signature", &signature)
        try members.required("inUse", &inUse)
    }
}

/// What a phone needs to answer with envelopes.
package struct PhoneQuestionsAnswer: Reply, Hashable {
    /// The phone's owner.
    package var person: String
    /// The number by which the phone's envelopes name it.
    package var device: Int64
    /// Whether the service only takes envelopes of the phone.
    package var sealed: Bool
    /// The open queries, in the order asked.
    package var questions: [PhoneQuestionItem]
    /// Those who may read the exact history, the owner first.
    package var readers: [PhoneReaderItem]

    package init(
        person: String, device: Int64, sealed: Bool, questions: [PhoneQuestionItem], readers: [PhoneReaderItem]
    ) {
        (self.person, self.device, self.sealed, self.questions) = (person, device, sealed, questions)
        self.readers = readers
    }

    package static var invented: Self {
        Self(
            person: .invented, device: .invented, sealed: .invented, questions: .invented, readers: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("person", .handle, &person)
        try members.required("device", &device)
        try members.required("sealed", &sealed)
        try members.required("questions", &questions)
        try members.required("readers", &readers)
    }
}

/// An open query that a phone may answer with an envelope.
package struct PhoneQuestionItem: Reply, Hashable {
    /// The query's UUID.
    package var query: String
    /// Who asks.
    package var person: String
    /// What they may see: `exact`, `kilometer`, `city` or `place`.
    package var precision: String
    /// The names of the asker's keys that the phone's owner accepts. The phone seals only for those that it knows itself.
    package var keys: [String]

    package init(query: String, person: String, precision: String, keys: [String]) {
        (self.query, self.person, self.precision, self.keys) = (query, person, precision, keys)
    }

    package static var invented: Self {
        Self(query: .invented, person: .invented, precision: .invented, keys: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("query", .uuid, &query)
        try members.required("person", .handle, &person)
        try members.required("precision", &precision)
        try members.required("keys", &keys)
    }
}

/// A person who may read the history of a phone's owner.
package struct PhoneReaderItem: Reply, Hashable {
    package var person: String
    /// The names of the person's keys that the phone's owner accepts; of the owner, all keys in use.
    package var keys: [String]

    package init(person: String, keys: [String]) { (self.person, self.keys) = (person, keys) }

    package static var invented: Self { Self(person: .invented, keys: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("person", .handle, &person)
        try members.required("keys", &keys)
    }
}
