import HTTPInterface

extension MetricsEndpoint {
    /// The metrics.
    package var operations: [Operation] {
        [
            Operation(
                "GET", "/metrics", .answer(read),
                group: .operation, summary: "Read metrics in Prometheus' format.",
                description: "Only for the operator. No personal data.", access: .operator,
                discloses: .noPerson("Counters without names."), answerTypes: ["text/plain"])
        ]
    }
}
