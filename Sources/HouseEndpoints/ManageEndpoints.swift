import Answers
import HTTPInterface
import HTTPServer
import JSON
import Log
import Maintenance
import Projections
import Replies
import Transparency
import Whereabouts
import WireFormats

/// Persons, devices, tokens and regions, and the shapes of answers that all settings share.
///
/// A caller without the right to manage a person gets 404, as for a person who does not exist.
///
/// A person manages their own settings with a token of the scope `manage`; the operator manages everyone's. Each
/// change is an event in the audit of the person concerned. Secrets are shown once; the log has their hashes.
struct ManageEndpoints: Sendable {
    let decisions: Decisions
    let views: Views
    /// Destroys the keys of an erased person in backups.
    let backups: BackupKeeper
    /// The last requests of devices, kept in memory.
    let deviceContacts: DeviceContacts

    /// `POST /v1/people`: adds a person with the body's `handle`, in a house with shards to the shard with the number `shard`
    /// or to the one with the fewest people. Answers 201 with `handle` and `number`; 409 if the
    /// handle exists.
    ///
    /// May call: the operator. Recorded as `PersonAdded`. People get accounts with `AccountEndpoints` instead.
    ///
    /// - Throws: 400 if `handle` is not a handle, for example because of a capital letter; 422 for a shard that the house does
    ///   not have.
    func addPerson(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object("handle", "shard")
        let handle = try body.handle("handle")
        var shards = decisions.shards
        if let wanted = try body.optionalInteger("shard") {
            guard !shards.isEmpty else { throw .refused("This house has no shards; leave \"shard\" out.") }
            shards = shards.filter { $0.rawValue == wanted }
            if shards.isEmpty { throw .refused("This house has no shard \(wanted); \"doctor\" lists its shards.") }
        }
        let receipt = try decisions.append(exchange, .addPerson(handle, among: shards))
        return HTTPResponse.created(
            receipt, decisions.references(for: exchange.caller), MadePerson(handle: handle.text))
    }

    /// The most persons in a page of `people(_:_:)`.
    static let peoplePerPage: Int64 = 1000

    /// `GET /v1/people`: all persons by handle, for the operator only; the cursor is the last handle of a page. Handles
    /// are no location data, so the read is not recorded.
    ///
    /// Cost: a page of the standing, without a read of a file.
    func people(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard exchange.caller.principal == .operator, exchange.caller.scopes.contains(.manage) else { throw .notFound }
        let limit = Int(try exchange.integer("limit", in: 1...Self.peoplePerPage, default: Self.peoplePerPage))
        let after = exchange.request.parameter("after")
        let body = decisions.log.withStanding { standing in
            // One more than the page has, to see whether there is another page.
            let coming = standing.persons.handles(after: after, limit: limit + 1)
            let page = coming.prefix(limit)
            let next = page.count < coming.count ? page.last?.handle.text : nil
            var items: [PersonItem] = []
            for (handle, id) in page {
                var devices: [String] = []
                for device in standing.persons[id]?.devices ?? [] {
                    if let known = standing.devices[device], !known.isRemoved, let handle = known.handle {
                        devices.append(handle.text)
                    }
                }
                items.append(PersonItem(handle: handle.text, devices: devices))
            }
            return Self.list(items, standing, next: next, decisions.references(for: exchange.caller))
        }
        return .json(body)
    }

    /// How long an erasure waits for the projections, which a reader or a refold can block.
    private static let erasureMilliseconds = 3000

    /// `DELETE /v1/people/*`: erases a person. Answers once no file has data of the person, or after
    /// ``erasureMilliseconds`` with `filesLeft`.
    ///
    /// `backupsLeft` counts the backups whose keys could not be reached; the operator also gets their folders.
    /// `receipt` is the house's signed statement (`ErasureReceipt`), because the person cannot ask again.
    ///
    /// May call: the person with the scope `manage`, and the operator. Recorded as `PersonErased`, after the ends of
    /// the queries about the person and by the person.
    func erasePerson(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let handle = try exchange.handle(0)
        let log = nameOfLog(of: handle, exchange.caller)
        let receipt = try decisions.append(exchange, .erasePerson(handle))
        let left = backups.settle()
        let isFinished =
            views.host.waitErased(receipt.last, milliseconds: Self.erasureMilliseconds)
            && decisions.log.identities?.waitUntilErased(milliseconds: Self.erasureMilliseconds) ?? true
        let event: RecordedEvent?
        do throws(LogError) { event = try context.reader.event(receipt.last)?.event } catch { throw .broken }
        // Only the operator sees where the backups are.
        let isShown = exchange.caller.principal == .operator && !left.isEmpty
        return .reply(
            ErasedPerson(
                isErased: true, number: decisions.references(for: exchange.caller).receipt(receipt),
                backupsLeft: Int64(left.count), backupsNotReached: isShown ? Array(left) : nil,
                areFilesLeft: isFinished ? nil : true,
                receipt: log.flatMap { log in
                    event.map { views.gate.receipts.erasure(of: log, recordedAs: $0, backupsLeft: left.count) }
                }))
    }

    /// The name of a person's own log. The erasure destroys the key that it is computed from. `nil` if the caller may not
    /// erase the person, or the person does not exist.
    private func nameOfLog(of handle: Handle, _ caller: Caller) -> LogOrigin? {
        guard let person = decisions.log.withStanding({ $0.person(handle) }),
            caller.principal == .operator || (caller.principal == person.principal && caller.scopes.contains(.manage))
        else { return nil }
        // Without the key, for example because it is lost, the person is erased all the same.
        return try? views.gate.receipts.logName(of: person)
    }

    /// `POST /v1/people/*/devices`: adds a device, and shows its reporting key once.
    ///
    /// Answers 201 with `handle`, and with `user` and `password` as an app asks for them, and `number`.
    ///
    /// May call: the person with the scope `manage`, and the operator. Recorded as `DeviceAdded` and `TokenIssued`. A
    /// person names a device `anna.phone`, with their own handle first, so that a refusal says nothing about other
    /// people's devices.
    ///
    /// - Throws: 409 if the handle exists, 422 if a person's name for it has another form.
    func addDevice(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let handle = try exchange.object("handle").handle("handle")
        let secret = Secret(prefix: "wd_", exchange.secretBytes)
        let receipt = try decisions.append(exchange, .addDevice(handle, of: try exchange.handle(0), key: secret.hash))
        return HTTPResponse.created(
            receipt, decisions.references(for: exchange.caller),
            MadeDevice(handle: handle.text, user: handle.text, password: secret.text))
    }

    /// `DELETE /v1/devices/*`: removes a device and ends its tokens. Its fixes stay.
    ///
    /// Recorded as `DeviceRemoved`. Reports with its keys get 401 from then on, and no query wakes it.
    ///
    /// - Throws: 404 for a device that does not exist or is not the caller's to manage.
    func removeDevice(_ exchange: Exchange) throws(Problem) -> Command {
        guard let handle = Handle(exchange.parameters[0]) else { throw .notFound }
        return .removeDevice(handle)
    }

    /// `POST /v1/devices/*/tokens`: issues another reporting key, and shows it once.
    ///
    /// Recorded as `TokenIssued`. Earlier keys of the device stay valid, so a phone can be changed without losing
    /// reports.
    func addReportingKey(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard let handle = Handle(exchange.parameters[0]) else { throw .notFound }
        return try issue(exchange, .device(handle), .report, until: nil, prefix: "wd_")
    }

    /// `POST /v1/people/*/tokens`: issues a token, and shows it once. The body has `scopes`, a list of `query`, `audit`
    /// and `manage`, and optionally `until`.
    ///
    /// May call: the person with the scope `manage`, and the operator. Recorded as `TokenIssued`, with the hash of
    /// the secret.
    ///
    /// - Throws: 400 for an unknown scope or none, 422 for `report`, `operate` or an end in the past.
    func addToken(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object("scopes", "until")
        var words: [String] = []
        if let items = body["scopes"]?.array { for item in items { words.append(item.string ?? "") } }
        guard let scopes = Scopes(words: words), !scopes.isEmpty else {
            throw .invalid("\"scopes\" must be a list of query, audit and manage.")
        }
        return try issue(
            exchange, .person(try exchange.handle(0)), scopes, until: try body.optionalTime("until"), prefix: "wp_")
    }

    /// Issues a token with a secret of this request. A repetition with the same `Idempotency-Key` shows the same
    /// secret.
    ///
    /// - Parameter prefix: `wp_` for a person, `wd_` for a device.
    ///
    /// - Throws: 404 for a holder whom the caller may not manage.
    private func issue(
        _ exchange: Exchange, _ holder: TokenHolder, _ scopes: Scopes, until: Timestamp?,
        prefix: String
    ) throws(Problem) -> HTTPResponse {
        let secret = Secret(prefix: prefix, exchange.secretBytes)
        let (id, receipt) = try decisions.append(
            exchange, .issueToken(for: holder, scopes: scopes, hash: secret.hash, until: until))
        let references = decisions.references(for: exchange.caller)
        return HTTPResponse.created(
            receipt, references,
            IssuedToken(
                id: references.name(id.rawValue, .token), token: secret.text, scopes: scopes.words,
                until: until.map { Moment($0) }))
    }

    /// `GET /v1/people/*/tokens`: the valid tokens of the person and their devices, without the tokens themselves. A
    /// device's token has the device's handle.
    ///
    /// A recorded read, for the person and the operator. Sessions of the web page are among them, with the scope
    /// `session`.
    ///
    /// Cost: a look at every token of the house.
    func tokens(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> Disclosed {
        let now = decisions.clock()
        return try views.settings(exchange, context) { standing, person, references, page in
            let devices = standing.persons[person]?.devices ?? []
            let holders = Set(devices.map(\.principal) + [person.principal])
            let held = standing.tokens.all.filter { holders.contains($0.value.issued.principal) }
            for (id, token) in held.sorted(by: { $0.key < $1.key }) {
                let device = devices.first { $0.principal == token.issued.principal }
                guard device != nil || token.issued.principal == person.principal, !token.isRevoked,
                    token.issued.until.map({ now < $0 }) ?? true
                else { continue }
                let handle = device.flatMap { standing.devices[$0]?.handle?.text }
                page.add(
                    id.rawValue,
                    TokenItem(
                        id: references.name(id.rawValue, .token), scopes: token.issued.scopes.words,
                        until: token.issued.until.map { Moment($0) }, device: handle))
            }
        }
    }

    /// `DELETE /v1/tokens/*`: revokes a token. Requests with it get 401 from then on.
    ///
    /// Recorded as `TokenRevoked`, also for each session and unused code that was made from it.
    ///
    /// - Throws: 404 for a token that is revoked already or whose holder the caller may not manage.
    func revokeToken(_ exchange: Exchange) throws(Problem) -> Command {
        .revokeToken(TokenID(rawValue: try exchange.number(0, .token, decisions)))
    }

    /// `POST /v1/people/*/regions`: adds a region with the name `id` and a `circle` or a `polygon`. Its crossings are
    /// derived from the whole track, also from fixes before.
    ///
    /// May call: the person with the scope `manage`, and the operator. Recorded as `RegionAdded`; the region itself
    /// is sealed.
    ///
    /// - Throws: 400 for a wrong name or shape, 409 if the person has a region of this name, 422 past
    ///   ``Limits/regionsPerPerson`` regions.
    func addRegion(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let body = try exchange.object("id", "circle", "polygon", "notifyOnEntry", "notifyOnExit")
        let identifier = try body.requiredText("id")
        guard Region.isIdentifier(identifier) else {
            throw .invalid(
                "\"id\" must have 1 to \(Limits.regionNameCharacters) characters, no control characters, \"/\" or \"\\\" among them."
            )
        }
        let region = Region(
            identifier: identifier, area: try RegionJSON.area(of: body),
            notifyOnEntry: try body.flag("notifyOnEntry", default: true),
            notifyOnExit: try body.flag("notifyOnExit", default: true))
        let receipt = try decisions.append(exchange, .addRegion(region, of: try exchange.handle(0)))
        return HTTPResponse.created(
            receipt, decisions.references(for: exchange.caller), MadeRegion(id: identifier))
    }

    /// `DELETE /v1/people/*/regions/*`: removes a region by its name.
    ///
    /// Recorded as `RegionRemoved`. The crossings so far stay in answers.
    ///
    /// - Throws: 404 if the person has no region of this name.
    func removeRegion(_ exchange: Exchange) throws(Problem) -> Command {
        .removeRegion(identifier: exchange.parameters[1], of: try exchange.handle(0))
    }

    // MARK: Shapes of answers

    /// A list of settings as JSON: `items`, `next` and `asOf`. For lists that are not about a person, and so are not
    /// recorded.
    ///
    /// - Parameter next: The cursor of the next page, as the caller sends it back; `nil` on the last page.
    static func list<Item: MemberValue>(
        _ items: [Item], _ standing: borrowing Standing, next: String? = nil, _ references: References
    ) -> [UInt8] {
        Page(items: items, end: PageEnd(next: next.map(Reference.text), asOf: references.place(standing.place))).bytes
    }
}
