/// An address that shows a person's location to every viewer who opens it, without an account, until it ends.
///
/// A ``Grant`` whose requester is the link decides the precision and the times. For example, a link for a party shows
/// the exact location until midnight.
package struct ShareLink: Hashable, Sendable {
    /// Unique in the log, and in one row with the ids of persons and devices.
    package let id: LinkID
    /// The grant of the link's viewers.
    package let grant: GrantID
    /// The hash of the secret in the address, together with the passphrase if there is one. Without both, nothing can be
    /// compared with it: the secret has 256 random bits.
    package let hash: Hash256
    /// Whether opening it needs a passphrase.
    package let hasPassphrase: Bool
    /// Whether a viewer who has opened it may look again and again. Otherwise an opening shows the location for
    /// ``Limits/linkLookSeconds``.
    package let isLive: Bool
    /// How often it can be opened; `nil` for any number of times.
    package let openingsMax: Int64?
    /// The name that the person gave it; `nil` without a name.
    package let name: Part<LinkName>?

    package init(
        id: LinkID, grant: GrantID, hash: Hash256, hasPassphrase: Bool, isLive: Bool, openingsMax: Int64?,
        name: Part<LinkName>?
    ) {
        (self.id, self.grant, self.hash, self.hasPassphrase) = (id, grant, hash, hasPassphrase)
        (self.isLive, self.openingsMax, self.name) = (isLive, openingsMax, name)
    }
}

/// The name of a share link, which only its owner and the operator see. 1 to ``Limits/linkNameCharacters`` characters.
package struct LinkName: Hashable, Sendable {
    /// As the person wrote it, without other checks than the length.
    package let text: String
    /// A name of this text; the decision checks its length.
    package init(_ text: String) { self.text = text }
}

/// The properties of a new share link, in addition to the terms of its grant.
package struct LinkRequest: Hashable, Sendable {
    /// As ``ShareLink/hash``.
    package let hash: Hash256
    /// Whether ``hash`` covers a passphrase too.
    package let hasPassphrase: Bool
    /// As ``ShareLink/isLive``.
    package let isLive: Bool
    /// At least 1; `nil` for any number of openings.
    package let openingsMax: Int64?
    /// 1 to ``Limits/linkNameCharacters`` characters; `nil` without a name.
    package let name: String?

    package init(hash: Hash256, hasPassphrase: Bool, isLive: Bool, openingsMax: Int64?, name: String?) {
        (self.hash, self.hasPassphrase, self.isLive) = (hash, hasPassphrase, isLive)
        (self.openingsMax, self.name) = (openingsMax, name)
    }
}
