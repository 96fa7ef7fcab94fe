/// The content of a file other than fixes and visits, counted by kind.
package struct PassedOver: Sendable {
    /// The kinds.
    package enum Kind: Sendable, CaseIterable {
        case wayPoints, routePoints, coursePoints
        case pointsWithoutPlace, pointsPowerOn
        case placeholders, timelessVisits, nestedVisits, unconfirmedVisits
        case activitiesWithoutPlace, pathsWithTwoTimes, regions
        case otherMessages, invalidPositions, linesWithoutPlace
        case damagedSentences

        /// The noun for a count, and the reason.
        var words: (noun: String, reason: String) {
            switch self {
            case .wayPoints: ("way points", "they are places and plans, not fixes")
            case .routePoints: ("route points", "they are places and plans, not fixes")
            case .coursePoints: ("course points", "a course is a plan")
            case .pointsWithoutPlace: ("points", "they have no place")
            case .pointsPowerOn: ("points", "their time counts from when the device was switched on")
            case .placeholders: ("entries", "they have neither a place nor a visit")
            case .timelessVisits: ("visits", "they have no times")
            case .nestedVisits: ("visits", "each is inside another visit")
            case .unconfirmedVisits: ("visits", "the person has not confirmed them")
            case .activitiesWithoutPlace: ("activities", "they have one place for two times")
            case .pathsWithTwoTimes: ("paths", "they have two times for all points, and nothing is interpolated")
            case .regions: ("regions", "they are places, not fixes")
            case .otherMessages: ("messages", "they are not locations")
            case .invalidPositions: ("positions", "the receiver marked them as invalid")
            case .linesWithoutPlace: ("lines", "they have no place")
            case .damagedSentences: ("sentences", "they are damaged")
            }
        }
    }

    private var counts: [Kind: Int] = [:]
    /// Sentences about the whole file.
    package private(set) var notes: [String] = []

    /// The sentences that are kept.
    private static let notesMax = 20

    /// Counts some more.
    mutating func add(_ kind: Kind, _ count: Int = 1) {
        if count > 0 { counts[kind, default: 0] += count }
    }

    /// Sets the count of a kind.
    mutating func set(_ kind: Kind, _ count: Int) {
        counts[kind] = count > 0 ? count : nil
    }

    /// Adds a sentence about the whole file.
    mutating func note(_ sentence: String) {
        if notes.count < Self.notesMax, !notes.contains(sentence) { notes.append(sentence) }
    }

    /// Adds the counts of another file.
    mutating func add(_ other: PassedOver) {
        for (kind, count) in other.counts { counts[kind, default: 0] += count }
        for sentence in other.notes { note(sentence) }
    }

    /// How many there are of a kind.
    package subscript(kind: Kind) -> Int { counts[kind] ?? 0 }

    /// One sentence for each reason, with the counts of its kinds.
    ///
    /// - Parameter count: Writes a number for people, for example `1,234`.
    package func sentences(_ count: (Int) -> String) -> [String] {
        var byReason: [(reason: String, parts: [String])] = []
        for kind in Kind.allCases {
            guard let number = counts[kind] else { continue }
            let (noun, reason) = kind.words
            let part = "\(count(number)) \(noun)"
            if let index = byReason.firstIndex(where: { $0.reason == reason }) {
                byReason[index].parts.append(part)
            } else {
                byReason.append((reason, [part]))
            }
        }
        return byReason.map { "\($0.parts.joined(separator: " and ")) were skipped: \($0.reason)." } + notes
    }
}
