/// A place found by a name, and how well the name fits. Prints without its content.
package struct FoundPlace: Hashable, Sendable {
    /// How the search text agrees with a name of the place, compared by letters and digits, in lower case and without
    /// diacritics.
    package enum Match: Hashable, Sendable {
        /// They are the same.
        case exact
        /// The name begins with the search text.
        case prefix
        /// The name is one or two typing errors away: a letter inserted, left out, replaced, or two exchanged.
        case misspelled(edits: Int)
        /// The names are the same, but the rest of the question matches nothing known.
        case nameOnly
    }

    /// The place; `distanceMeters` is 0, because no coordinate was asked about.
    package let place: Place
    package let match: Match
    /// The better, the sooner in a list: the common logarithm of the population, corrected for how the name fits.
    package let score: Double
}

extension Found {
    /// How well the name matches; nil for addresses, which have ``FoundAddress/isPartial`` instead.
    var match: FoundPlace.Match? {
        switch self {
        case .place(let place): place.match
        case .area(let area): area.match
        case .address: nil
        }
    }
}
