public import Foundation

/// Seals fixes end to end, so that only the people whose keys the owner has accepted can read them.
///
/// On a phone, it uses CryptoKit with keys in the Keychain, in an access group that the app and its extension share; in
/// simulations, a file. It must seal only for keys that it has itself: the service and its pushes name keys, and never supply
/// them.
///
/// An app with sealing asks the service who may read (`GET /v1/devices/DEVICE/questions`) before it seals, so that a grant that has
/// ended counts at once.
public protocol LocationSealing: Sendable {
    /// The bodies of `POST /v1/envelopes` that answer the open questions.
    ///
    /// - Parameters:
    ///   - fix: The body of `POST /v1/fixes` with one fix, which must not be sent; `nil` if the phone has none.
    ///   - questions: What the service answered.
    func answer(_ fix: Data?, to questions: Data) -> [Data]

    /// The bodies of `POST /v1/envelopes` that add fixes to the history.
    ///
    /// - Parameters:
    ///   - fixes: The body of `POST /v1/fixes`, which must not be sent.
    ///   - questions: What the service answered; it names those who may read the history.
    func history(_ fixes: Data, readers questions: Data) -> [Data]
}
