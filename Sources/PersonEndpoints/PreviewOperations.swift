import HTTPInterface
import Replies
import Whereabouts

extension PreviewEndpoint {
    /// What another person would see.
    package var operations: [Operation] {
        [
            Operation(
                "GET", APIPath.peoplePreview.text, .recorded(read),
                group: .sharing, summary: "Read your location as another person would.",
                description:
                    "For the person or the operator, with the scopes `manage` and `query`. `location` is null if the other person would see none; `reason` says why. Your read is recorded before the answer is sent.",
                access: .token([.manage, .query]), discloses: .recorded(.location), query: [.atLeast],
                answer: Operation.Answer(
                    Schema.object(of: PreviewAnswer.self), named: "Preview"),
                hasNames: true)
        ]
    }
}
