import Log
package import Whereabouts
package import WireFormats

extension Decisions {
    /// Adds to a fix the query that it answers, if the app marks the fix as its answer to `reportLocation`.
    package func answerQuestions(with reports: inout [Report], of device: DeviceID) {
        for (index, report) in reports.enumerated() {
            guard case .fix(let fix, nil) = report, OwnTracks.isAnswer(fix) else { continue }
            let now = log.questions.time(at: clock())
            let question = log.withStanding { standing in
                standing.devices[device].flatMap { standing.questionsToPassOn(about: $0.person, now).first }
            }
            reports[index] = .fix(fix, answering: question)
        }
    }
}
