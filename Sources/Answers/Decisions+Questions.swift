import Log
package import Whereabouts
package import WireFormats

extension Decisions {
    /// Adds to each fix that the app marks as its answer to `reportLocation` the query about the device's owner that it
    /// answers.
    package func answerQuestions(with reports: inout [Report], of device: DeviceID) {
        let now = clock()
        let question = log.withStanding { standing -> QueryID? in
            guard let person = standing.devices[device]?.person else { return nil }
            return standing.questionsToPassOn(about: person) { log.questions.time(of: $0, $1, at: now) }.first
        }
        // Without a question, which is nearly always, no report is looked at.
        guard let question else { return }
        for index in reports.indices {
            guard case .fix(let fix, nil) = reports[index], OwnTracks.isAnswer(fix) else { continue }
            reports[index] = .fix(fix, answering: question)
        }
    }
}
