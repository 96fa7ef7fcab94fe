package import HTTPServer
package import Log
package import Whereabouts

/// The log as requests use it: commands in a caller's name, the standing, and the references by which callers see
/// numbers.
package struct Decisions: Sendable {
    /// The log, which decides and appends every command.
    package let log: EventLog
    /// The house's clock.
    package let clock: @Sendable () -> Timestamp
    /// The references of recent callers.
    package let knownReferences: KnownReferences

    /// The shards of the house, of which a new person gets one; empty in a house without shards.
    package let shards: [ShardNumber]

    package init(
        log: EventLog, clock: @escaping @Sendable () -> Timestamp, knownReferences: KnownReferences,
        shards: [ShardNumber] = []
    ) {
        self.log = log
        self.clock = clock
        self.knownReferences = knownReferences
        self.shards = shards
    }

    /// Appends a command in the caller's name and waits until its events are durable.
    ///
    /// Blocks: call it on an answering thread.
    ///
    /// - Throws: The problem of the refusal or of the log's state, by ``Problem/init(_:)-(AppendFailure)``.
    @discardableResult
    package func append(_ exchange: Exchange, _ command: Command) throws(Problem) -> Receipt {
        do throws(AppendFailure) {
            return try log.appendAndWait(command, by: exchange.caller, correlation: exchange.id)
        } catch { throw Problem(error) }
    }

    /// Appends a command whose reply the caller uses, and returns the reply too.
    ///
    /// - Throws: As ``append(_:_:)-(_,Command)``; ``Problem/broken`` if the log answers another command, a fault.
    package func append<Reply>(_ exchange: Exchange, _ order: Order<Reply>) throws(Problem) -> (Reply, Receipt) {
        let receipt = try append(exchange, order.command)
        guard let reply = order.read(receipt.reply) else { throw .broken }
        return (reply, receipt)
    }

    /// A handler of requests that are one command each, answered with the number of its event.
    package func done(
        by make: @escaping @Sendable (Exchange) throws(Problem) -> Command
    ) -> @Sendable (Exchange, AnswerContext) throws(Problem) -> HTTPResponse {
        { (exchange, _) throws(Problem) in
            .done(try append(exchange, try make(exchange)), references(for: exchange.caller))
        }
    }

    /// Appends a command and answers with `answer(receipt)` once its events are durable, or with the problem. No thread
    /// waits for that; both closures run on the log's thread and must not block.
    package func submit(
        _ exchange: Exchange, _ command: Command, _ respond: @escaping @Sendable (HTTPResponse) -> Void,
        answer: @escaping @Sendable (Receipt) -> HTTPResponse
    ) {
        log.submit(command, by: exchange.caller, correlation: exchange.id) { result in
            switch result {
            case .success(let receipt): respond(answer(receipt))
            case .failure(let failure): respond(Problem(failure).response)
            }
        }
    }

    /// The references of a caller; a device has those of its person.
    package func references(for caller: Caller) -> References {
        guard caller.scopes.contains(.report), let owner = log.withStanding({ $0.owner(of: caller) }) else {
            return knownReferences.references(for: caller.principal)
        }
        return references(of: owner)
    }

    /// The references of a person, for any caller.
    package func references(of person: PersonID) -> References { knownReferences.references(for: person.principal) }

    /// The person's corrections of their visits.
    package func corrections(of person: PersonID) -> VisitCorrections {
        VisitCorrections(log.withStanding { $0.corrections(of: person) }.map(\.correction))
    }
}

extension Exchange {
    /// The number of the thing in the path, from the name by which the caller sees it.
    ///
    /// - Throws: 404 if the text is not a reference of this kind that the caller was given.
    package func number(_ index: Int, _ kind: References.Kind, _ decisions: Decisions) throws(Problem) -> Int64 {
        let found = decisions.references(for: caller).number(parameters[index], kind)
        guard let number = found, number > 0 else { throw .notFound }
        return number
    }
}
