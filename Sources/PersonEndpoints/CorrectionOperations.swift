import Answers
import HTTPInterface
import Replies
import Whereabouts

extension CorrectionEndpoints {
    /// Corrections of visits and of names of places.
    package var operations: [Operation] {
        [
            .change(
                APIPath.peopleCorrections.text, make,
                group: .people, summary: "Add a correction.",
                description:
                    "For the person (scope `manage`) or the operator. A correction refers to times and places, so it still applies when visits are derived again. At most 1000.",
                access: .token(.manage), discloses: .command,
                body: Operation.Body(
                    Schema.ref("NewCorrection"),
                    example: [
                        "type": "rename", "latitude": 48.1737, "longitude": 16.3778, "name": "Home",
                    ]),
                answer: Operation.Answer(
                    Schema.made(MadeItem.self), named: "AddedCorrection")),
            .settings(
                APIPath.peopleCorrections.text, list,
                group: .people, summary: "List a person's corrections.",
                description: "Each has the form in which it was added. The read is recorded before the answer is sent.",
                access: .token(.manage), discloses: .settings,
                items: Schema.ref("Correction"), named: "Correction"),
            .command(
                "DELETE", APIPath.peopleCorrection.text, decisions.done(by: withdraw),
                group: .people, summary: "Withdraw a correction.",
                description: "For the person (scope `manage`) or the operator.", access: .token(.manage)),
        ]
    }
}
