import Answers
import Whereabouts

/// The open live streams, and whether another may be opened.
///
/// All persons of one invitation tree together may have as many streams as are left for everyone else. So a tree that
/// takes all it can takes half of the free room, however many persons it has, and the first stream of another tree
/// finds room until all are open.
struct StreamRoom {
    /// The streams of one person, counted toward their tree.
    private struct Share {
        let tree: PersonID
        var count = 0
    }

    private let most: Int
    private var open: [PersonID: Share] = [:]
    /// The open streams of each invitation tree, by its root.
    private var openOfTree: [PersonID: Int] = [:]
    /// The open streams of all persons.
    private(set) var count = 0

    init(most: Int = Limits.liveStreams) { self.most = most }

    /// Takes room for one stream; the problem if there is none: 503 for the whole service, 429 for the person or the
    /// tree.
    ///
    /// - Parameter tree: The person's invitation tree, always the same.
    mutating func take(for person: PersonID, of tree: PersonID) -> Problem? {
        guard count < most else { return .busy(Self.retrySeconds) }
        var share = open[person] ?? Share(tree: tree)
        guard share.count < Limits.liveStreamsPerPerson else {
            return Self.tooMany(
                "You have \(Limits.liveStreamsPerPerson) live streams open; close one, and send the request again.")
        }
        let ofTree = openOfTree[tree, default: 0]
        guard ofTree < max(Limits.liveStreamsPerPerson, most - count) else {
            return Self.tooMany(
                "Accounts from the same invitation have too many live streams open; close one, or send the request again later."
            )
        }
        share.count += 1
        open[person] = share
        openOfTree[tree] = ofTree + 1
        count += 1
        return nil
    }

    /// Returns the room that `take(for:of:)` reserved.
    mutating func giveBack(of person: PersonID) {
        guard var share = open[person] else { return }
        share.count -= 1
        open[person] = share.count > 0 ? share : nil
        let ofTree = openOfTree[share.tree, default: 1] - 1
        openOfTree[share.tree] = ofTree > 0 ? ofTree : nil
        count -= 1
    }

    /// The `Retry-After` of a refused stream.
    private static let retrySeconds = 10

    private static func tooMany(_ detail: String) -> Problem {
        Problem(429, "Too many", detail, retryAfterSeconds: retrySeconds)
    }
}
