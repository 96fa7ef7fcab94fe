import Answers
import HTTPServer
import Log
import LogVerifying
import Maintenance
import Projections
import Replies
import Tables
import Whereabouts

extension OperateEndpoints {
    /// How long a verification waits for projections that are folded from zero.
    private static let longestLoadingMilliseconds = 600_000

    /// `GET /v1/verify`: verifies the log's hashes, the index of fixes against the log, the row counts of every active
    /// projection, and each projection and the standing against a refold from zero.
    ///
    /// A difference is part of the answer, with status 200; 500 means that the log could not be read.
    ///
    /// Cost: the time of a refold; one answering thread.
    ///
    /// May call: the operator. Not recorded: the answer has counts, hashes and names of projections, and nothing
    /// about a person.
    package func verify(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard exchange.caller.scopes.contains(.operate) else { throw .notFound }
        // A lost projection is being folded again. The verification is about the one that will answer.
        _ = host.wait(
            for: decisions.log.head, in: ProjectionKind.all.map(\.name), milliseconds: Self.longestLoadingMilliseconds)
        let progress = verificationProgress
        var report: VerificationReport
        do throws(LogError) {
            let verifier = try LogVerifier(path: directory.log, keys: decisions.log.keys)
            report = VerificationReport(log: try verifier.verify { progress.report("log", $0, of: $1) })
        } catch { throw Problem(500, "Damaged", "The log cannot be read: \(error)") }
        report.fixes = try fixes(context)
        report.projections = check(host.status.filter { $0.generation.role == .active }, context)
        let standing = StandingCheck.run(decisions.log, context.reader)
        report.projections.append(
            VerifiedProjection(
                name: "standing", version: Int64(StandingFile.version), generation: 1, place: standing.place,
                fingerprint: standing.fingerprint.hex,
                // The standing is in memory. Its file is compared with the log when it is loaded.
                rows: VerifiedProjection.fine, refold: standing.refold))
        return .reply(report.reply)
    }

    /// Checks the index of fixes. If it is being made again, waits for it as for a projection, unless it cannot be
    /// made.
    ///
    /// - Throws: 500 if the log cannot be read. A problem of the index is part of the result.
    private func fixes(
        _ context: AnswerContext
    ) throws(Problem) -> FixIdentities.Check {
        guard let identities = decisions.log.identities else { throw .elsewhere }
        guard identities.waitUntilComplete(milliseconds: Self.longestLoadingMilliseconds) else {
            return FixIdentities.Check(problem: identities.sentenceWhileIncomplete ?? "it is being made again")
        }
        let progress = verificationProgress
        do throws(LogError) {
            return try identities.check(context.reader) { progress.report("index of fixes", $0, of: $1) }
        } catch {
            throw Problem(500, "Damaged", "The log cannot be read: \(error)")
        }
    }

    /// Checks projection files: `rows` by the fingerprint in the file, `refold` by folding the log again up to the same
    /// place.
    ///
    /// Errors become texts of the report: one projection that cannot be read does not hide the state of the others. The
    /// program cannot fold an outdated one, whose successor is still being folded.
    private func check(_ active: [ProjectionHost.Status], _ context: AnswerContext) -> [VerifiedProjection] {
        let directory = directory.projections
        var subjects: [RefoldCheck.Subject] = []
        for status in active where !status.isOutdated {
            guard let kind = ProjectionKind.named(status.generation.name) else { continue }
            subjects.append((status, kind))
        }
        let rows = subjects.map { status, kind in
            FingerprintChecker.problem(kind, path: "\(directory)/\(status.generation.fileName)")
        }
        let outcomes = RefoldCheck.run(
            subjects, directory: directory, reader: context.reader, progress: verificationProgress)
        return active.compactMap { status in
            guard !status.isOutdated else {
                return VerifiedProjection(
                    status.generation, place: status.place, fingerprint: status.fingerprint, rows: nil,
                    refold: RefoldCheck.Result.loading.rawValue)
            }
            guard let index = subjects.firstIndex(where: { $0.status.generation.name == status.generation.name }) else {
                return nil
            }
            let refold: String
            switch outcomes[index] {
            case .success(let result): refold = result.rawValue
            case .failure(let error): refold = "\(error)"
            }
            return VerifiedProjection(
                status.generation, place: status.place, fingerprint: status.fingerprint, rows: rows[index],
                refold: refold)
        }
    }
}
