import HTTPInterface
import Replies
import Whereabouts

extension PushTestEndpoints {
    /// Tests of the way to a phone.
    package var operations: [Operation] {
        [
            Operation(
                "POST", APIPath.devicesPushTests.text, .report(send),
                group: .operation, summary: "Send a test push to a device.",
                description:
                    "Only for the operator. The push is real and recorded, counts against the device's budget, and the person sees it.",
                access: .operator, discloses: .command,
                answer: Operation.Answer(Schema.object(of: PushTestItem.self), named: "PushTest")),
            Operation(
                "GET", APIPath.devicesPushRequest.text, .recorded(request),
                group: .operation, summary: "Get the test push as a request for another tool.",
                description:
                    "Only for the operator. The answer has the person's device token, so it is recorded as a read.",
                access: .operator, discloses: .recorded(.settings),
                answer: Operation.Answer(Schema.object(of: PushRequestItem.self), named: "PushRequest")),
        ]
    }
}
