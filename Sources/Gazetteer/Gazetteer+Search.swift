package import Geodesy

extension Gazetteer {
    /// The places a name may mean, the likeliest first: by how the name fits, then by population.
    ///
    /// A name is found in any language GeoNames knows it in, in its own script or in Latin letters, with or without
    /// marks. Countries and first-order divisions before or behind it, with or without a comma, as names, codes or
    /// abbreviations, distinguish it from others ("Springfield, IL", "München Bayern", "Lyon, Frankreich"); so does a
    /// larger place that it lies in or by ("Kreuzberg, Berlin"). If no name matches exactly, names that begin with the
    /// text are found, from three Latin letters on, and if there are none, names up to two typing errors away that have
    /// the same first letter and enough people. If the words behind a comma name nothing known, the name before it is
    /// found alone. Texts such as "my house" find nothing: the gazetteer has no private places.
    ///
    /// About 20 µs, half a millisecond to two where there are typing errors.
    ///
    /// - Parameters:
    ///   - text: At most 256 bytes and 12 words; nothing is found for more.
    ///   - limit: How many places at most, 1 or more.
    /// - Returns: Nothing if no place is called so, or if there is no `names.gazetteer`.
    package func places(named text: String, limit: Int = 10) -> [FoundPlace] {
        placesAndAreas(named: text, limit: limit, placesAlone: true).compactMap {
            if case .place(let place) = $0 { place } else { nil }
        }
    }

    /// The places, countries, divisions, airports and waters a name may mean, the likeliest first.
    ///
    /// Names match as in ``places(named:limit:)``. A country ranks as if it had ten times its population, so that
    /// "Georgia" finds the country first. A division ranks as if it had a third, and comes after a city of the same
    /// name in it, unless that city has less than a thirtieth of the division's people: "São Paulo" finds the city
    /// first, "Washington" the state.
    func placesAndAreas(named text: String, limit: Int, placesAlone: Bool = false) -> [Found] {
        precondition(limit > 0, "A search asks for one place at least.")
        guard let names, let question = PlaceQuestion(text, fold: names.fold), !question.isOwnPlace else { return [] }
        return withExtendedLifetime(names) {
            var search = NameSearch(names: names, gazetteer: self, question: question, limit: limit)
            search.findExactly()
            if search.isEmpty, let plain = PlaceQuestion.withoutBrackets(text) {
                return placesAndAreas(named: plain, limit: limit, placesAlone: placesAlone)
            }
            if search.isEmpty { search.findSimilar() }
            return search.ranked(placesAlone: placesAlone).compactMap(found)
        }
    }

    private func found(_ candidate: NameSearch.Candidate) -> Found? {
        switch candidate.subject {
        case .place(let number):
            place(numbered: number).map {
                .place(FoundPlace(place: $0, match: candidate.match, score: candidate.score))
            }
        case .thing(let number):
            names?.thing(number).map { thing in
                .area(
                    FoundArea(
                        kind: thing.kind, name: thing.name, coordinate: thing.coordinate,
                        population: thing.kind == .country || thing.kind == .administrativeArea ? thing.weight : 0,
                        match: candidate.match, score: candidate.score, number: thing.number))
            }
        }
    }

    /// The placemark of a found place, with that place as its locality or the part of it.
    package func placemark(of found: FoundPlace, using transform: GeocentricTransform) -> Placemark {
        placemark(at: found.place.coordinate, using: transform).naming(found.place)
    }
}
