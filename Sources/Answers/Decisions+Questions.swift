import Log
package import Whereabouts
package import WireFormats

extension Decisions {
    /// Adds to a fix the query that it answers, if the app marks the fix as its answer to `reportLocation`.
    package func answerQuestions(with reports: inout [Report], of person: PersonID?) {
        let now = clock()
        guard let person,
            let question = log.withStanding({
                $0.questionsToPassOn(about: person, log.questions.time(at: now)).first
            })
        else { return }
        for (index, report) in reports.enumerated() {
            guard case .fix(let fix, nil) = report, OwnTracks.isAnswer(fix) else { continue }
            reports[index] = .fix(fix, answering: question)
        }
    }
}
