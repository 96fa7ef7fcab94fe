import Answers
import HTTPInterface
import Replies
import Whereabouts

extension ScheduleEndpoints {
    /// Questions that the service asks at intervals.
    package var operations: [Operation] {
        [
            .change(
                APIPath.peopleSchedules.text, set,
                group: .people, summary: "Add a schedule.",
                description:
                    "For the person (scope `manage`) or the operator. The service asks at this interval unless a fix is younger than half of it. At most 8.",
                access: .token(.manage), discloses: .command,
                body: Operation.Body(
                    Schema.body(
                        ["everySeconds": Schema.integer(Limits.scheduleSeconds)], optional: ["until": Schema.timeGiven]),
                    named: "NewSchedule", example: ["everySeconds": 1800]),
                answer: Operation.Answer(
                    Schema.made(MadeItem.self), named: "AddedSchedule")),
            .settings(
                APIPath.peopleSchedules.text, list,
                group: .people, summary: "List a person's schedules.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage),
                discloses: .settings,
                items: Schema.object(of: ScheduleItem.self),
                named: "Schedule"),
            .command(
                "DELETE", APIPath.peopleSchedule.text, decisions.done(by: remove),
                group: .people, summary: "Remove a schedule.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage)),
        ]
    }
}
