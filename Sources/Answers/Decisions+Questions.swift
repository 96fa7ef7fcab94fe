import Log
package import Whereabouts
package import WireFormats

extension Decisions {
    /// Adds to each fix that the app marks as its answer to `reportLocation` the query about the device's owner that it
    /// answers.
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
