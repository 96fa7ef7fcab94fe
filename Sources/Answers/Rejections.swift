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
        case .notSealed:
            "This device is sealed: the service only takes its envelopes. Nothing of this report was kept; update the app, or unseal the device."
        case .badEnvelope: "This is not an envelope in base64, or not its only encoding. Nothing of it was kept."
        case .wrongSignature: "The envelope is not signed by the person's identity key; publish that key first."
        case .otherDevice: "The envelope names another device than the one that sent it."
        case .recipientNotPinned:
            "The envelope is sealed for a key that the person does not accept, or that was withdrawn."
        case .noSuchQuery: "There is no open query about the person that this envelope could answer."
        case .wrongRecipient:
            "The envelope can be opened by a person who did not ask, who has no grant, or whose grant is for another precision."
        }
    }
}

extension RejectedInput {
    /// The kept bytes as text; bytes that are not UTF-8 are replaced.
    package var text: String { String(decoding: head, as: UTF8.self) }
}
