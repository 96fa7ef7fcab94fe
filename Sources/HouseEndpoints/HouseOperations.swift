package import Answers
package import HTTPInterface
package import HTTPServer
package import Log
package import Maintenance
package import Projections
package import Reactors

/// The operations about persons' accounts and rights, about places, and those of the operator.
///
/// Each subject declares its routes beside its handlers. A new subject needs a line here.
package enum HouseOperations {
    /// All operations, with the parts of the service that their handlers use.
    ///
    /// - Parameters:
    ///   - apps: The apps whose devices can be woken; `nil` if none is configured.
    ///   - webhooks: `nil` if the operator allows no targets.
    ///   - witnesses: `nil` unless witnesses are configured.
    ///   - shipper: `nil` unless events are shipped.
    ///   - serverCounters: The counters of the HTTP server; `nil` while nothing listens.
    package static func all(
        views: Views, houseLog: HouseLog, answers: AnswerPool, directory: DataDirectory, backups: BackupKeeper,
        backupMaker: BackupMaker,
        deviceContacts: DeviceContacts, geocodingBudgets: GeocodingBudgets, requestFigures: RequestFigures,
        verificationProgress: VerificationProgress, apps: PushApps?, webhooks: WebhookDeliverer?,
        witnesses: WitnessRounds?, shipper: Shipper?, serverCounters: @escaping @Sendable () -> HTTPServerCounters?
    ) -> [Operation] {
        let (decisions, gate) = (views.decisions, views.gate)
        // Persons, devices and rights.
        var operations =
            ManageEndpoints(
                decisions: decisions, views: views, backups: backups, deviceContacts: deviceContacts
            ).operations
        operations += GrantEndpoints(decisions: decisions, views: views).operations
        operations += LinkEndpoints(decisions: decisions, views: views).operations
        operations += RetentionEndpoints(decisions: decisions, views: views).operations
        operations += SharedEndpoint(decisions: decisions).operations
        operations += AccountEndpoints(decisions: decisions).operations
        // Facts that concern no person.
        operations += GeocodeEndpoints(decisions: decisions, geocodingBudgets: geocodingBudgets).operations
        // The operator's requests.
        operations += PushTestEndpoints(decisions: decisions, gate: gate, pushApps: apps).operations
        operations += PushBudgetEndpoint(decisions: decisions).operations
        operations +=
            OperateEndpoints(
                decisions: decisions, gate: gate, host: views.host, directory: directory, backupMaker: backupMaker,
                verificationProgress: verificationProgress, shipper: shipper, work: OperatorWork()
            ).operations
        operations += AuditorEndpoints(decisions: decisions, houseLog: houseLog).operations
        operations +=
            MetricsEndpoint(
                decisions: decisions, host: views.host, answers: answers, requestFigures: requestFigures,
                webhookDeliverer: webhooks, witnesses: witnesses, shipper: shipper, serverCounters: serverCounters
            ).operations
        return operations
    }
}
