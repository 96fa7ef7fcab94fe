import Answers
import HTTPInterface
import HTTPServer
import Log
import Replies
import Transparency
import Whereabouts
import WireFormats

/// The log as an appointed auditor checks it, and the appointment of auditors.
///
/// The log is for the operator (scope `operate`) and auditors (scope `inspect`): checkpoints, tiles, bundles of entries,
/// commitments to the persons' own logs. They hold hashes and the clear columns of events, so a read of them is not
/// recorded, like `GET /v1/events?asStored`. Other callers get 404. An auditor's token is good for nothing else.
struct AuditorEndpoints: Sendable {
    let decisions: Decisions
    let houseLog: HouseLog

    private static func requireAuditor(_ exchange: Exchange) throws(Problem) {
        guard !exchange.caller.scopes.isDisjoint(with: [.operate, .inspect]) else { throw .notFound }
    }

    private static func bytes(_ body: [UInt8], _ type: String) -> HTTPResponse {
        HTTPResponse(status: 200, headers: [("Content-Type", type)], body: body)
    }

    /// `GET /v1/log/checkpoint`: a signed note (C2SP tlog-checkpoint) over the log up to a commitment to all heads.
    ///
    /// Recorded before as `HeadsCommitted`, if the log has other events since the last one.
    ///
    /// - Throws: 503 while the log is read for the first time after a start.
    func checkpoint(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        try Self.requireAuditor(exchange)
        return Self.bytes(try houseLog.checkpoint(context).bytes, "text/plain; charset=utf-8")
    }

    /// `GET /v1/log/key`: the key that signs the checkpoints, as a line of a policy has it.
    func key(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        try Self.requireAuditor(exchange)
        return .text(houseLog.key.text + "\n")
    }

    /// `GET /v1/log/tile/…`: a tile of hashes, or a bundle of entries (C2SP tlog-tiles), for example
    /// `/v1/log/tile/0/000.p/17` and `/v1/log/tile/entries/x001/234`.
    ///
    /// - Throws: 404 for a path that the newest checkpoint does not cover.
    func tile(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        try Self.requireAuditor(exchange)
        let path: TilePath
        do throws(TransparencyError) {
            path = try TilePath((["tile"] + exchange.parameters).joined(separator: "/"))
        } catch { throw .notFound }
        guard let body = try houseLog.tile(path, context) else { throw .notFound }
        return Self.bytes(body, "application/octet-stream")
    }

    /// `GET /v1/log/heads/*`: the stored body of the `HeadsCommitted` of this number, in CBOR. Its SHA-256 is in the entry
    /// of the event.
    func heads(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        try Self.requireAuditor(exchange)
        guard let number = Int64(exchange.parameters[0]), let body = try houseLog.heads(number, context) else {
            throw .notFound
        }
        return Self.bytes(body, "application/octet-stream")
    }

    /// `POST /v1/auditors`: appoints an auditor: issues a token with the scope `inspect`, and shows it once. The body may
    /// have `until`.
    ///
    /// May call: the operator. Recorded as `TokenIssued`.
    func appoint(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        let until =
            exchange.request.body.isEmpty ? nil : try exchange.object("until").optionalTime("until")
        let secret = Secret(prefix: "wa_", exchange.secretBytes)
        let (id, receipt) = try decisions.append(
            exchange, .issueToken(for: .auditor, scopes: .inspect, hash: secret.hash, until: until))
        let references = decisions.references(for: exchange.caller)
        return HTTPResponse.created(
            receipt, references,
            IssuedToken(
                id: references.name(id.rawValue, .token), token: secret.text, scopes: Scopes.inspect.words,
                until: until.map { Moment($0) }))
    }

    /// `GET /v1/auditors`: the valid tokens of auditors, without the secrets. For the operator.
    func auditors(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        guard exchange.caller.principal == .operator, exchange.caller.scopes.contains(.manage) else { throw .notFound }
        let now = decisions.clock()
        let references = decisions.references(for: exchange.caller)
        let body = decisions.log.withStanding { standing in
            let held = standing.tokens.all.filter { $0.value.issued.scopes == .inspect && $0.value.isValid(at: now) }
            let items = held.sorted { $0.key < $1.key }.map { id, token in
                TokenItem(
                    id: references.name(id.rawValue, .token), scopes: token.issued.scopes.words,
                    until: token.issued.until.map { Moment($0) })
            }
            return ManageEndpoints.list(items, standing, references)
        }
        return .json(body)
    }
}
