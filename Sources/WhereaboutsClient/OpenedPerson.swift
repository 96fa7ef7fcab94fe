import Glibc
package import OpenedEnvelopes
import Replies
package import Whereabouts

/// A person whose phone seals its fixes: the answers are made on this computer, from envelopes that the service cannot
/// read.
///
///     let keys = try RecipientKeys(file: "ben.keys")
///     let anna = try ben.opening("anna", with: keys)
///     if case .now(let location) = try await anna.ask(purpose: "dinner is ready") { … }
///
/// The answers have the same types as those of ``ServiceClient``, without names of places and time zones. Each read is
/// recorded by the service, with the envelopes that it handed over. Visits and crossings need an exact grant with
/// history; they are derived from all fixes that the keys open, so each call fetches the person's whole history.
///
/// All methods throw ``ClientError``: ``ClientError/service(_:)`` for an envelope that the person did not sign, that
/// answers another question, or that shows more than its precision allows.
public struct OpenedPerson: Sendable {
    private let client: ServiceClient
    private let opener: EnvelopeOpener

    package init(client: ServiceClient, opener: EnvelopeOpener) { (self.client, self.opener) = (client, opener) }

    /// The most envelopes of one read: ten years with a fix every three minutes.
    private static let mostEnvelopes = 2_000_000
    /// A period lasts a day, and its key is listed at its beginning.
    private static let periodSeconds: Int64 = 86_400 + 900
    /// The newest location is searched in this time first, and then in all.
    private static let recentSeconds: Int64 = 30 * 86_400

    /// Fixes that were opened, in the order of time.
    package struct Opened {
        package let fixes: [OpenedFix]
        /// How many envelopes the keys do not open.
        package let closed: Int
    }

    // MARK: Waiting on the thread, for the tool

    /// The fixes that the keys open, with `from` ≤ time < `to`.
    ///
    /// - Parameter query: Further parameters of the requests.
    package func fixes(
        from: Timestamp? = nil, to: Timestamp? = nil, query: [(name: String, value: String)] = []
    ) throws(ClientError) -> Opened {
        let query = query + Self.range(from, to)
        var items: [EnvelopeItem] = []
        var after: String?
        repeat {
            let answer = try client.get(path, query: query + ServiceClient.cursor(after))
            after = try add(try ServiceClient.page(of: answer, path, after: after) { $0 }, to: &items)
        } while after != nil
        return try opened(items, from: from, to: to)
    }

    /// The newest fix that the keys open; `nil` if there is none.
    package func newestFix(
        at now: Timestamp, query: [(name: String, value: String)] = []
    ) throws(ClientError) -> OpenedFix? {
        if let recent = try fixes(from: now.adding(seconds: -Self.recentSeconds), query: query).fixes.last {
            return recent
        }
        return try fixes(query: query).fixes.last
    }

    // MARK: For programs

    /// Asks where the person is, as ``ServiceClient/ask(where:purpose:initiation:waitSeconds:)``, and opens the answer.
    ///
    /// - Parameters:
    ///   - purpose: Why you ask. The person reads it.
    ///   - waitSeconds: How long to wait for the answer, 1 to 3600.
    public func ask(
        purpose: String, initiation: ServiceClient.Initiation = .user, waitSeconds: Int = 60
    ) async throws -> ServiceClient.Answer {
        let now = Timestamp.present
        let earliest = now.adding(seconds: -Limits.defaultMaxAgeSeconds)
        let answer = try await client.asked(
            where: opener.subject.text, purpose: purpose, initiation: initiation, waitSeconds: waitSeconds)
        guard let item = answer.envelope else { return try ServiceClient.answer(answer) }
        guard let query = QueryID(answer.id) else { throw ServiceClient.unexpected(APIPath.locationQuery.parts("*")) }
        let fix = try Self.opening { () throws(OpeningError) in
            try opener.fix(in: item, answering: query, notBefore: earliest)
        }
        return .now(try Self.location(fix))
    }

    /// The newest location that the keys open, without waking the phone; `nil` if there is none. Recorded reads.
    public func lastKnownLocation() async throws -> ServiceClient.Location? {
        let now = Timestamp.present
        if let recent = try await fixes(from: now.adding(seconds: -Self.recentSeconds), to: nil).last {
            return try Self.location(recent)
        }
        return try await fixes(from: nil, to: nil).last.map { try Self.location($0) }
    }

    /// The fixes that the keys open in a time range, in order of time. Recorded reads.
    public func track(from: UnixTime? = nil, to: UnixTime? = nil) async throws -> [ServiceClient.Fix] {
        let fixes = try await fixes(from: try Self.time(from), to: try Self.time(to))
        return fixes.compactMap { ServiceClient.Fix(TrackPoint($0)) }
    }

    /// The visits that overlap a time range, in order of time, derived on this computer. Recorded reads.
    public func visits(from: UnixTime? = nil, to: UnixTime? = nil) async throws -> [ServiceClient.Visit] {
        let (from, to) = (try Self.time(from), try Self.time(to))
        let timeline = try await timeline(of: [])
        return timeline.visits(from: from, to: to).compactMap { ServiceClient.Visit($0) }
    }

    /// The entries into and exits from the person's regions in a time range, derived on this computer. Recorded reads.
    ///
    /// - Throws: Also for anyone but the person: only the person may read the regions, with the scope `manage`.
    public func crossings(from: UnixTime? = nil, to: UnixTime? = nil) async throws -> [ServiceClient.Crossing] {
        let (from, to) = (try Self.time(from), try Self.time(to))
        let path = APIPath.peopleRegions.parts(opener.subject.text)
        let page: ServiceClient.Page<RegionItem> = try ServiceClient.page(
            of: try await client.send("GET", path), path, after: nil
        ) { $0 }
        let timeline = try await timeline(of: page.items)
        return timeline.crossings(from: from, to: to).map { ServiceClient.Crossing($0) }
    }

    // MARK: Steps

    private var path: [String] { APIPath.peopleEnvelopes.parts(opener.subject.text) }

    /// The range of the requests: the keys of a range may have been sealed before it.
    private static func range(_ from: Timestamp?, _ to: Timestamp?) -> [(name: String, value: String)] {
        func seconds(_ time: Timestamp) -> String { "\(time.milliseconds / 1000)" }
        return (from.map { [(name: "from", value: seconds($0.adding(seconds: -periodSeconds)))] } ?? [])
            + (to.map { [(name: "to", value: seconds($0.adding(seconds: 1)))] } ?? [])
    }

    /// Adds a page, and returns the cursor of the next one.
    private func add(
        _ page: ServiceClient.Page<EnvelopeItem>, to items: inout [EnvelopeItem]
    ) throws(ClientError) -> String? {
        items += page.items
        guard items.count <= Self.mostEnvelopes else {
            throw .service("The service sent more than \(Self.mostEnvelopes) envelopes; read a shorter time.")
        }
        return page.next
    }

    private func opened(
        _ items: [EnvelopeItem], from: Timestamp?, to: Timestamp?
    ) throws(ClientError) -> Opened {
        let (fixes, closed) = try Self.opening { () throws(OpeningError) in try opener.fixes(in: items) }
        let asked = fixes.filter { opened in
            (from.map { $0 <= opened.fix.timestamp } ?? true) && (to.map { opened.fix.timestamp < $0 } ?? true)
        }
        return Opened(fixes: asked, closed: closed)
    }

    private func fixes(from: Timestamp?, to: Timestamp?) async throws(ClientError) -> [OpenedFix] {
        let query = Self.range(from, to)
        var items: [EnvelopeItem] = []
        var after: String?
        repeat {
            let answer = try await client.send("GET", path, query: query + ServiceClient.cursor(after))
            after = try add(try ServiceClient.page(of: answer, path, after: after) { $0 }, to: &items)
        } while after != nil
        return try opened(items, from: from, to: to).fixes
    }

    private func timeline(of regions: [RegionItem]) async throws(ClientError) -> LocalTimeline {
        let fixes = try await fixes(from: nil, to: nil)
        let now = Timestamp.present
        return try Self.opening { () throws(OpeningError) in
            LocalTimeline(
                of: fixes, regions: try regions.map { (item) throws(OpeningError) in try Region(item) }, at: now)
        }
    }

    private static func opening<Value>(
        _ body: () throws(OpeningError) -> Value
    ) throws(ClientError) -> Value {
        do throws(OpeningError) { return try body() } catch { throw .service(error.description) }
    }

    private static func location(_ opened: OpenedFix) throws(ClientError) -> ServiceClient.Location {
        guard let location = ServiceClient.Location(LocationItem(opened)) else {
            throw ServiceClient.unexpected(APIPath.peopleEnvelopes.parts("*"))
        }
        return location
    }

    private static func time(_ seconds: UnixTime?) throws(ClientError) -> Timestamp? {
        guard let seconds else { return nil }
        guard let moment = Moment(seconds: seconds) else { throw .request("A time must be seconds since 1970 UTC.") }
        return Timestamp(milliseconds: moment.milliseconds)
    }
}

extension Timestamp {
    /// This computer's clock.
    fileprivate static var present: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

extension ServiceClient {
    /// The answers about a person whose phone seals, opened with the keys of a file.
    ///
    /// - Parameters:
    ///   - person: The person's handle.
    ///   - keys: Your own keys. They must have the person's identity key, which `whereabouts key pin` accepts, unless
    ///     you are that person.
    /// - Throws: ``ClientError/request(_:)`` if they do not.
    public func opening(_ person: String, with keys: RecipientKeys) throws -> OpenedPerson {
        guard let handle = Handle(person) else { throw ClientError.request("\"\(person)\" is not a handle.") }
        do throws(OpeningError) {
            return OpenedPerson(client: self, opener: try EnvelopeOpener(keys.file, of: handle))
        } catch { throw ClientError.request(error.description) }
    }
}
