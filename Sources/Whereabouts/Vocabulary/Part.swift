/// Content sealed under one person's key. The bytes stay in the log for ever; only the key can be destroyed.
package enum Part<Content: Hashable & Sendable>: Hashable, Sendable {
    case open(Content)
    /// The key was destroyed on purpose.
    case erased
    /// The key is missing, and no destruction is recorded: a fault that `verify` reports.
    case keyLost

    /// The content; `nil` if it cannot be read.
    package var content: Content? {
        if case .open(let content) = self { content } else { nil }
    }
}
