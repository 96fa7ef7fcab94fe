import Answers
import HTTPServer

extension APIDescription {
    /// The API description itself.
    package var operations: [Operation] {
        [
            Operation(
                "GET", "/openapi.json", .answer { (_, _) throws(Problem) in .json(self.bytes) },
                group: .operation, summary: "Read this description.",
                description: "OpenAPI 3.1.", access: .anybody, discloses: .noPerson("The same for every caller."),
                answer: Operation.Answer(Schema.anyObject), bodyBytes: 0)
        ]
    }
}
