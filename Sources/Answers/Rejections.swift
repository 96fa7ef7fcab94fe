package import Whereabouts

extension RejectionReason {
    /// The problem and its remedy.
    package var sentence: String {
        switch self {
        case .notJSON: "The body is not JSON; nothing was read from it."
        case .unknownType: "The report is of an unknown type; this address does not take it."
        case .missingField: "A required member is missing."
        case .badCoordinate: "Latitude must be -90 to 90, longitude -180 to 180."
        case .badTimestamp: "\"timestamp\" must be Unix seconds or a time like 2026-05-01T08:00:00Z, since 1990."
        case .inTheFuture: "\"timestamp\" is more than a day ahead; set the device's clock."
        case .noFix: "The device had no fix, so the message has no location."
        case .tooLarge: "Send at most \(Limits.batchCommands) reports and \(Limits.ingestBodyBytes >> 20) MiB at once."
        case .encryptedWithoutKey:
            "The service does not have the key of this encrypted payload; name the key's file in config.json, or turn encryption off."
        case .badValue: "A member has a value that is not allowed."
        }
    }
}

extension RejectedInput {
    /// The kept bytes as text; bytes that are not UTF-8 are replaced.
    package var text: String { String(decoding: head, as: UTF8.self) }
}
