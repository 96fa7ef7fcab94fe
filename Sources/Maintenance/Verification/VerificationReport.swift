import Cryptography
package import Log
package import LogVerifying
package import Projections
package import Replies

/// Collects the results of a verification for its answer.
package struct VerificationReport {
    /// The log's hashes, and its erased and lost keys.
    private let log: LogVerification
    /// Durable events that the log lacks.
    var loss: LogLoss?
    /// The index of fixes compared with the log; `nil` for the files alone, where no service keeps it.
    package var fixes: FixIdentities.Check?
    /// The active projections, then the standing.
    package var projections: [VerifiedProjection] = []

    package init(log: LogVerification) { self.log = log }

    /// The answer of `GET /v1/verify`, which the tool shows too.
    package var reply: Verification {
        Verification(
            log: VerifiedLog(
                events: log.events, root: log.root.hex, number: log.problem?.number ?? loss?.from,
                problem: log.problem?.sentence ?? loss?.description),
            keys: VerifiedKeys(erased: log.erasedParts, lost: log.lostParts),
            fixes: fixes.map { VerifiedFixes(events: $0.events, fixes: $0.fixes, problem: $0.problem) },
            projections: projections)
    }
}

extension VerifiedProjection {
    /// - Parameters:
    ///   - place: The number of the newest event folded; `nil` if the file does not open.
    ///   - rows: The fault of the rows; `nil` if there is none.
    ///   - refold: A `RefoldCheck.Result`, or the error that prevented the refold.
    package init(
        _ generation: Catalog.Generation, place: Int64?, fingerprint: Fingerprint?, rows: String?, refold: String
    ) {
        self.init(
            name: generation.name, version: generation.version, generation: generation.generation, place: place,
            fingerprint: fingerprint?.hex, rows: rows ?? Self.fine, refold: refold)
    }
}
