package import OpenedEnvelopes
import Whereabouts

/// The keys of a person for sealed locations, from the file that `whereabouts key add` makes. They never leave this computer.
///
/// The file also has the identity keys of the people whom its owner has accepted (`whereabouts key pin`): only envelopes
/// that such a person has signed are opened, whatever key the service shows.
public struct RecipientKeys: Sendable {
    package let file: KeyFile

    /// Reads a file of keys, which only its owner may be able to read.
    ///
    /// - Throws: ``ClientError/request(_:)`` if the file cannot be read, is not a file of keys, or others can read it.
    public init(file path: String) throws {
        do throws(KeyFile.Failure) { file = try KeyFile(path: path) } catch {
            throw ClientError.request(error.description)
        }
    }

    package init(_ file: KeyFile) { self.file = file }

    /// The handle of the owner.
    public var person: String { file.person.text }
}
