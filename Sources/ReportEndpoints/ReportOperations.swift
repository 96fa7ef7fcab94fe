package import Answers
package import Cryptography
package import HTTPInterface
package import Whereabouts

/// The operations that bring fixes into the log: reports of devices, and imports of files.
package enum ReportOperations {
    /// All operations, with the parts of the service that their handlers use.
    ///
    /// - Parameter secretBoxes: The keys of devices that encrypt in the app, by the device's handle.
    package static func all(
        views: Views, answers: AnswerPool, secretBoxes: [Handle: SecretBox]
    ) -> [Operation] {
        let ingest = IngestEndpoints(
            decisions: views.decisions, gate: views.gate, answers: answers, secretBoxes: secretBoxes,
            friendsShown: FriendsShown())
        return ingest.operations + EnvelopeIngestEndpoints(decisions: views.decisions).operations
            + ImportEndpoints(decisions: views.decisions, views: views).operations
    }
}
