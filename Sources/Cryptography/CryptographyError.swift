/// A failure caused by external input. Failures that input cannot cause are bugs and stop the process.
package enum CryptographyError: Error, Equatable, CustomStringConvertible {
    /// The sealed bytes, the nonce, the associated data and the key do not belong together, or some were changed.
    case authenticationFailed
    /// A key could not be read. The text describes the expected form and contains nothing of the key.
    case malformedKey(String)

    package var description: String {
        switch self {
        case .authenticationFailed: "the sealed bytes do not authenticate"
        case .malformedKey(let expectation): "malformed key: expected \(expectation)"
        }
    }
}
