import Whereabouts

/// Reports of clients of other servers, in the form of those servers.
extension Operation {
    private static let form = "application/x-www-form-urlencoded"

    /// The routes of PhoneTrack, µlogger and Home Assistant. Their bodies and answers are those of the clients, so they
    /// have no schema.
    static let others: KeyValuePairs<String, Operation> = [
        "GET /index.php/apps/phonetrack/logGet/*/*": Operation(
            group: .reports, summary: "Report with PhoneTrack's parameters.",
            access: .message,
            query: ["lat", "lon", "timestamp", "alt", "acc", "bat", "sat", "speed", "bearing", "useragent"].map {
                name in
                Parameter(name: name, schema: Schema.parameterText, description: "As the client sends it.")
            }, answer: anything),
        "POST /index.php/apps/phonetrack/logPost/*/*": Operation(
            group: .reports, summary: "Report with PhoneTrack's form.", access: .message, body: anything,
            isBodyOptional: true, bodyTypes: [form], answer: anything),
        "POST /index.php/apps/phonetrack/logPostMultiple/*/*": Operation(
            group: .reports, summary: "Report with PhoneTrack's batch.", access: .message, body: anything,
            answer: anything),
        "POST /ulogger/client/index.php": Operation(
            group: .reports, summary: "Report with µlogger's actions.", access: .message, body: anything,
            bodyTypes: [form, "multipart/form-data"], answer: anything),
        "POST /api/webhook/*": Operation(
            group: .reports, summary: "Report to Home Assistant's webhook.",
            access: .message, body: anything, bodyTypes: ["application/json", form], answer: anything),
    ]
}
