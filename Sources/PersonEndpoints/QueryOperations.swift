import HTTPInterface
import Replies
import Whereabouts

extension QueryEndpoints {
    /// Location queries, for their requester.
    package var operations: [Operation] {
        [
            Operation(
                "POST", APIPath.peopleLocationQueries.text, .report(ask),
                group: .asking, summary: "Ask where a person is.",
                description:
                    "Needs a token with the scope `query` and a grant of the person's. If no fix is young enough, the person's phone is woken. The query, its purpose and its outcome are recorded, and the person sees them. Without a grant the answer is 404, as for a person who does not exist.",
                access: .token(.query), discloses: .command,
                body: Operation.Body(
                    Schema.body(
                        ["purpose": Schema.text(1...Limits.purposeCharacters)],
                        optional: [
                            "initiation": Schema.word("user", "server"),
                            "deadlineSeconds": Schema.integer(1...Limits.longestQueryDeadlineSeconds),
                            "maxAgeSeconds": Schema.integer(0...Limits.longestQueryDeadlineSeconds),
                        ]), named: "NewLocationQuery", example: ["purpose": "late for dinner", "deadlineSeconds": 60]),
                status: 202,
                answer: Operation.Answer(
                    Schema.object(of: StartedQuery.self),
                    named: "StartedLocationQuery"),
                bodyBytes: Limits.bodyBytes, takesKey: true),
            Operation(
                "GET", APIPath.locationQuery.text, .wait(read),
                group: .asking, summary: "Read the status and the answer of a location query.",
                description:
                    "Only for the requester. With `wait`, the answer comes as soon as the query is no longer pending. Each answer with a location is recorded as a disclosure before it is sent.",
                access: .token(.query), discloses: .disclosed,
                query: [
                    Operation.Parameter(
                        name: "wait", schema: Schema.integer(0...30),
                        description: "The seconds to wait for the end of the query.")
                ],
                answer: Operation.Answer(
                    Schema.object(of: QueryAnswer.self), named: "LocationQuery"),
                hasPlaces: true, hasNames: true),
            Operation(
                "DELETE", APIPath.locationQuery.text, .answer(cancel),
                group: .asking, summary: "Cancel a location query.",
                description: "Only for the asker. The person sees that the query was cancelled.",
                access: .token(.query),
                discloses: .command,
                answer: Operation.Answer(
                    Schema.object(["id": Schema.uuid, "status": Schema.queryStatus], optional: ["asOf": Schema.asOf]),
                    named: "EndedLocationQuery")),
        ]
    }
}
