/// How far a person's feed has been given. A feed has two sources, the log and the timeline, which are read to different
/// places.
package enum FeedBounds {
    /// The number up to which every item has been given.
    ///
    /// - Parameters:
    ///   - logged: The number of the last event examined.
    ///   - told: The number up to which the timeline's news were given; `nil` for a feed without them.
    package static func place(logged: Int64, told: Int64?) -> Int64 { min(logged, told ?? logged) }

    /// The number up to which rows are complete that were read with a limit. The last number may have more rows than
    /// were read, so it counts only if fewer rows than the limit were found.
    ///
    /// - Parameter numbers: The numbers of the rows' events, ascending.
    package static func complete(_ numbers: [Int64], limit: Int) -> Int64? {
        guard numbers.count >= limit, let last = numbers.last else { return nil }
        return last - 1
    }

    /// Whether a caller's feed has visits, crossings and the ends of the caller's own questions: the scope that asks
    /// about people gives them.
    package static func hasNews(_ scopes: Scopes) -> Bool { scopes.contains(.query) }
}
