import HTTPInterface
import Replies
import Whereabouts

extension SharedEndpoint {
    /// Who shares with the caller.
    package var operations: [Operation] {
        [
            Operation(
                "GET", APIPath.sharedWithMe.text, .answer(list),
                group: .sharing, summary: "List the people who share with you.",
                description:
                    "The people whom you may ask now. `location` says whether you may read the stored location without a question, and `history` whether you may read the past too. Needs the scope `query`. Not recorded: it discloses no more than a question would.",
                access: .token(.query),
                discloses: .names("Handles of the people whom the caller may ask; a question would say the same."),
                answer: Operation.Answer(Schema.object(of: SharedPeople.self), pageOf: "SharingPerson"))
        ]
    }
}
