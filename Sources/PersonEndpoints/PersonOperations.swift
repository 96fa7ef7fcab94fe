package import Answers
package import HTTPInterface
package import Reactors

/// The operations about one person: questions to their devices, and stored data. Each answer about a person is recorded
/// before it leaves.
package enum PersonOperations {
    /// All operations, with the parts of the service that their handlers use.
    ///
    /// - Parameters:
    ///   - webhooks: `nil` if the operator allows neither targets nor mail.
    ///   - hasTrackers: Whether the operator allows trackers at the MQTT broker.
    ///   - spoolRoom: The room for files that are too long for memory.
    ///   - others: Operations of other modules, whose lists a person's archive has.
    package static func all(
        views: Views, personLogs: PersonLogs, answers: AnswerPool, waitingRoom: WaitingRoom, deliverer: Deliverer,
        sources: FeedSources, webhooks: WebhookDeliverer?, hasTrackers: Bool, spoolRoom: SpoolRoom,
        others: [Operation]
    ) -> [Operation] {
        let (decisions, gate) = (views.decisions, views.gate)
        var operations =
            QueryEndpoints(decisions: decisions, gate: gate, answers: answers, waitingRoom: waitingRoom).operations
        // Stored data.
        operations += ReadEndpoints(decisions: decisions, views: views, logs: personLogs).operations
        operations += EnvelopeEndpoints(decisions: decisions, views: views).operations
        operations += ProofEndpoints(views: views, logs: personLogs).operations
        operations +=
            LiveEndpoint(decisions: decisions, views: views, deliverer: deliverer, sources: sources).operations
        operations += RecorderEndpoints(decisions: decisions, gate: gate).operations
        operations += PreviewEndpoint(decisions: decisions, views: views).operations
        // What a person sets.
        operations += SealingEndpoints(decisions: decisions, views: views).operations
        operations += ScheduleEndpoints(decisions: decisions, views: views).operations
        operations +=
            WebhookEndpoints(
                decisions: decisions, views: views, webhookDeliverer: webhooks, hasTrackers: hasTrackers
            ).operations
        operations += CorrectionEndpoints(decisions: decisions, views: views).operations
        operations += RevisionEndpoints(decisions: decisions, views: views).operations
        let archive = ArchiveEndpoint(
            decisions: decisions, views: views, room: spoolRoom, operations: operations + others)
        operations += ExportEndpoints(decisions: decisions, views: views, room: spoolRoom, archive: archive).operations
        return operations
    }
}
