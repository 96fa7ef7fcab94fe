/// An act of the operator that concerns everyone. It is recorded before it is done.
///
/// The event is not sealed, so a name in it is always that of a projection, never a text that the operator typed.
package enum OperatorAct: Hashable, Sendable {
    /// Rebuilds a projection beside the active one.
    case rebuildProjection(String, version: Int64)
    /// Activates the rebuilt projection.
    case activateProjection(String)
    /// Activates the previous projection again.
    case rollBackProjection(String)
    /// Deletes the unused files of a projection; `nil` for all projections.
    case pruneProjections(String?)
    /// Copies the log and its keys.
    case backUp
    /// Posts a message again that a webhook gave up on.
    case retryMessage(WebhookID, DeadLetterID)
    /// Sends a test message to a webhook's target.
    case testWebhook(WebhookID)
    /// The act that the event of this number recorded has failed.
    case failed(Int64)

    /// The name of the act in the interface.
    package var word: String {
        switch self {
        case .rebuildProjection: "rebuildProjection"
        case .activateProjection: "activateProjection"
        case .rollBackProjection: "rollBackProjection"
        case .pruneProjections: "pruneProjections"
        case .backUp: "backUp"
        case .retryMessage: "retryMessage"
        case .testWebhook: "testWebhook"
        case .failed: "failed"
        }
    }

    /// The projection of the act, if it has one.
    package var projection: String? {
        switch self {
        case .rebuildProjection(let name, _), .activateProjection(let name), .rollBackProjection(let name): name
        case .pruneProjections(let name): name
        case .backUp, .retryMessage, .testWebhook, .failed: nil
        }
    }

    /// The version of the fold, for a rebuild.
    package var version: Int64? { if case .rebuildProjection(_, let version) = self { version } else { nil } }
}
