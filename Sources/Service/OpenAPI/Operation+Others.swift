import Whereabouts

/// Reports of clients of other servers, as those servers take them.
extension Operation {
    private static let form = "application/x-www-form-urlencoded"

    static let others: KeyValuePairs<String, Operation> = [
        "GET /index.php/apps/phonetrack/logGet/*/*": Operation(
            group: .reports, summary: "PhoneTrack, in parameters; the key is the device's reporting key.",
            access: .message,
            query: ["lat", "lon", "timestamp", "alt", "acc", "bat", "sat", "speed", "bearing", "useragent"].map {
                name in
                Parameter(name: name, schema: Schema.text, description: "As the client sends it.")
            }, answer: anything),
        "POST /index.php/apps/phonetrack/logPost/*/*": Operation(
            group: .reports, summary: "PhoneTrack, as a form.", access: .message, body: anything, bodyTypes: [form],
            answer: anything),
        "POST /index.php/apps/phonetrack/logPostMultiple/*/*": Operation(
            group: .reports, summary: "PhoneTrack, a batch.", access: .message, body: anything, answer: anything),
        "POST /ulogger/client/index.php": Operation(
            group: .reports, summary: "µlogger: `auth`, `addtrack` and `addpos`.", access: .message, body: anything,
            bodyTypes: [form, "multipart/form-data"], answer: anything),
        "POST /api/webhook/*": Operation(
            group: .reports, summary: "What Home Assistant takes at a webhook; the key is the device's reporting key.",
            access: .message, body: anything, bodyTypes: ["application/json", form], answer: anything),
    ]
}
