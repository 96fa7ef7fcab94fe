/// What somebody who runs the service does to what it holds: on record before it is done.
///
/// A name is that of a projection, never a text of the operator's: the event is not sealed.
package enum OperatorAct: Hashable, Sendable {
    /// Folds a projection anew beside the one that answers.
    case rebuildProjection(String, version: Int64)
    /// Takes the projection that was folded anew into use.
    case activateProjection(String)
    /// Goes back to the projection that was in use before.
    case rollBackProjection(String)
    /// Deletes the files of projections that are no longer used; `nil`: of all.
    case pruneProjections(String?)
    /// Copies the log and its keys.
    case backUp
    /// Posts a message once more that was given up.
    case retryMessage(WebhookID, DeadLetterID)
    /// What that event says was begun came to nothing.
    case failed(Int64)

    /// What people and machines see.
    package var word: String {
        switch self {
        case .rebuildProjection: "rebuildProjection"
        case .activateProjection: "activateProjection"
        case .rollBackProjection: "rollBackProjection"
        case .pruneProjections: "pruneProjections"
        case .backUp: "backUp"
        case .retryMessage: "retryMessage"
        case .failed: "failed"
        }
    }

    /// The projection it is about, if it is about one.
    package var projection: String? {
        switch self {
        case .rebuildProjection(let name, _), .activateProjection(let name), .rollBackProjection(let name): name
        case .pruneProjections(let name): name
        case .backUp, .retryMessage, .failed: nil
        }
    }

    /// The version of the fold, of a rebuild.
    package var version: Int64? { if case .rebuildProjection(_, let version) = self { version } else { nil } }
}
