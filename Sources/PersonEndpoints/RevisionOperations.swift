import Answers
import HTTPInterface
import Replies
import Whereabouts

extension RevisionEndpoints {
    /// Withdrawing and restoring fixes.
    var operations: [Operation] {
        [
            Operation(
                "DELETE", APIPath.peopleTrackFix.text, .answer(withdraw), group: .people, summary: "Withdraw a fix.",
                description:
                    "From then on, everything is as if the fix had never been reported: the track, the newest location, visits, trips, crossings and places. The fix is the `number` that the track shows. It stays in the log and can be restored. The audit shows who withdrew it, and the reason. For the person (scope `manage`) or the operator.",
                access: .token(.manage), discloses: .command,
                query: [
                    Operation.Parameter(
                        name: "reason",
                        schema: Schema.text(1...Limits.purposeCharacters).with(["pattern": #"^[^\u0000]*$"#]),
                        isRequired: true,
                        description: "Why the fix does not count, for example `wrong clock`.")
                ],
                answer: .changed),
            .command(
                "POST", APIPath.peopleTrackFix.text, restore, group: .people, summary: "Restore a withdrawn fix.",
                description:
                    "The fix counts again, as before it was withdrawn. For the person (scope `manage`) or the operator.",
                access: .token(.manage),
                body: Operation.Body(
                    Schema.body(["reason": Schema.text(1...Limits.purposeCharacters)]), named: "Restoration",
                    example: ["reason": "the clock was right"])),
            Operation(
                "GET", APIPath.peopleWithdrawnFixes.text, .recorded(list), group: .people,
                summary: "List a person's withdrawn fixes.",
                description:
                    "In order of time. For the person (scope `manage`) or the operator. The read is recorded before the answer is sent.",
                access: .token(.manage), discloses: .recorded(.settings),
                query: ReadEndpoints.rowParameters + [.atLeast],
                answer: Operation.Answer(
                    Schema.page(
                        Schema.placedFix(["timestamp": Schema.time, "device": Schema.handle, "number": Schema.event])),
                    pageOf: "WithdrawnFix")),
        ]
    }
}
