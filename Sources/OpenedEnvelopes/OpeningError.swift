package import Envelopes
package import Whereabouts

/// Why envelopes cannot be opened or used on this computer. The description is one sentence for people, without a key.
package enum OpeningError: Error, Equatable, CustomStringConvertible {
    /// The file of keys has no identity key of the person, so no signature can be checked.
    case unknownPerson(Handle, owner: Handle)
    /// An envelope is not what it should be: the service, or someone on the way, made or exchanged it.
    case refused(EnvelopeError)
    /// A region has no shape that can be used.
    case badRegion(String)
    /// A correction cannot be applied.
    case badCorrection

    package var description: String {
        switch self {
        case .unknownPerson(let person, let owner):
            "The file of keys has no identity key of \(person.text): accept it with \"key pin --as \(owner.text) --person \(person.text) --keys KEYFILE\" and compare the safety number."
        case .refused(let error): "The service sent an envelope that is refused: \(Self.reason(error))."
        case .badRegion(let name): "The service sent a region \"\(name)\" without a usable shape."
        case .badCorrection: "The service sent a correction that this version of the program does not know; update it."
        }
    }

    private static func reason(_ error: EnvelopeError) -> String {
        switch error {
        case .wrongSignature: "the person did not sign it; compare the safety number"
        case .foreignQuery: "it answers another question"
        case .tooOld: "it is older than the question allows"
        case .notARecipient: "it is not sealed for a key of this file"
        case .inconsistent: "it shows more than its precision allows"
        default: "it cannot be opened"
        }
    }
}
