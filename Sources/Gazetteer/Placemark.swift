package import Geodesy

/// The names of a coordinate, in the terms of Core Location's `CLPlacemark`. An unknown name is absent.
///
/// Holds numbers; each property reads its name from the files. Prints without its content, because it reveals where a
/// person is.
package struct Placemark: Hashable, Sendable, DescribedWithoutContent {
    let gazetteer: Gazetteer
    let finding: Finding
    private let wording: Wording

    /// How its names are said: a pointer to copy instead of the content.
    private indirect enum Wording: Hashable {
        case plain
        /// `named` is set in the placemark of a place that was found by its name. Names are in the first of `languages`
        /// that has one, else local.
        case special(named: Place?, languages: [Language])
    }

    init(_ finding: Finding, of gazetteer: Gazetteer, naming named: Place? = nil, in languages: [Language] = []) {
        self.gazetteer = gazetteer
        self.finding = finding
        wording = named == nil && languages.isEmpty ? .plain : .special(named: named, languages: languages)
    }

    private var named: Place? { if case .special(let named, _) = wording { named } else { nil } }
    private var languages: [Language] { if case .special(_, let languages) = wording { languages } else { [] } }

    /// The country, its territorial sea included; absent on the high seas.
    package var isoCountryCode: CountryCode? { named.map { CountryCode($0.countryCode) } ?? finding.country }

    /// The country's name, in the first requested language that has one, else in the country's own language, or in
    /// English if that language is not written in Latin letters.
    package var country: String? {
        guard let code = isoCountryCode else { return nil }
        return gazetteer.translation(of: .country(code), in: languages) ?? gazetteer.name(of: code)
    }

    /// The first-order division of that country, in a language chosen as for ``country``.
    package var administrativeArea: String? {
        guard isOwn else { return named.flatMap { gazetteer.name(ofArea: $0.areaNumber, in: languages) } }
        return name(of: top) ?? areaOfNearest.flatMap { gazetteer.name(ofArea: $0, in: languages) }
    }

    /// Its code in ISO 3166-2, such as `AT-9`.
    package var administrativeAreaCode: String? {
        guard isOwn else { return named?.administrativeAreaISOCode }
        return top.flatMap { gazetteer.regions?.tiling.code($0) } ?? areaOfNearest.flatMap(gazetteer.isoCode)
    }

    /// The division of the division, where the source has it and not its region only: departments, provinces, counties;
    /// else that of the village, if a supplement says it.
    package var subAdministrativeArea: String? {
        guard isOwn else { return nil }
        return top != finding.region && areaOfNearest == nil
            ? name(of: finding.region) : village.flatMap(gazetteer.division)
    }

    /// The street: that of the nearest address of a supplement, if it lies in the same country and within 100 m, the
    /// accuracy asked for added.
    package var thoroughfare: String? { address.flatMap(gazetteer.thoroughfare) }

    /// The number of the house, if that address is within 50 m and no other as near.
    package var subThoroughfare: String? { address.flatMap(gazetteer.subThoroughfare) }

    /// The postal code of that address; else that of the town, if it has one only.
    package var postalCode: String? {
        if let code = address.flatMap(gazetteer.postalCode) { return code }
        let towns =
            (named?.name ?? strangeTown ?? villageAlone.flatMap { gazetteer.name(of: $0) }).map { [$0] }
            ?? [part, town].compactMap(\.self)
        return towns.lazy.compactMap {
            gazetteer.postalCode(ofTown: $0, country: isoCountryCode, at: finding.coordinate)
        }.first
    }

    /// The city, town or village the coordinate is in or just outside of; that of the address, where its source has
    /// another.
    package var locality: String? {
        if let named, !isPart(named) { return name(ofPlace: named) }
        if let own = strangeTown { return own }
        if let villageAlone { return gazetteer.name(of: villageAlone, in: languages) }
        return townName
    }

    /// The part of the locality, if GeoNames lists that part as a separate place.
    package var subLocality: String? {
        if let named, !isPart(named) { return nil }
        guard strangeTown == nil, villageAlone == nil else { return nil }
        if let village { return gazetteer.name(of: village, in: languages) }
        return finding.locality.subLocality.flatMap { name(ofPlaceNumbered: $0) }
    }

    /// The sea or ocean, where the coordinate is on no land.
    package var ocean: String? { named == nil ? finding.sea.flatMap { gazetteer.waters?.name($0) } : nil }

    /// The lake the coordinate is in: one of the world's largest, or the Caspian Sea.
    package var inlandWater: String? {
        guard named == nil else { return nil }
        return finding.lake.flatMap { gazetteer.regions?.tiling.name($0) }
            ?? finding.inlandSea.flatMap { gazetteer.waters?.name($0) }
    }

    /// Airports in the order of their IATA codes, then places of interest from the supplements, the nearest first.
    ///
    /// An airport is listed within 2 km of its reference point, a large one also within 1.3 km of a runway; a place of
    /// interest within 100 m. The accuracy asked for is added to the 100 m.
    package var areasOfInterest: [String] {
        guard named == nil else { return [] }
        let besides = finding.besides
        // A large airport has several outlines.
        var airports: [String] = []
        for name in besides.airports.compactMap({ gazetteer.airports?.name($0) }) where airports.last != name {
            airports.append(name)
        }
        return airports + besides.sights.compactMap { gazetteer.name(of: $0) }.filter { !airports.contains($0) }
    }

    /// The name of the time zone in the IANA database, such as `Europe/Vienna`.
    package var timeZone: String? { finding.zone.flatMap { gazetteer.zones?.timeZone($0) } }

    /// All countries that claim the land, including ``isoCountryCode``, in alphabetical order; empty where the land is
    /// not contested.
    package var claimants: [CountryCode] { named == nil ? finding.besides.claimants : [] }

    /// Other countries within the accuracy asked for, in alphabetical order.
    package var otherCountryCodes: [CountryCode] { named == nil ? finding.besides.otherCountries : [] }

    /// Other time zones within the accuracy asked for, in alphabetical order.
    package var otherTimeZones: [String] {
        named == nil ? finding.besides.otherZones.compactMap { gazetteer.zones?.timeZone($0) }.sorted() : []
    }

    /// The place nearest by geodesic in the same country (anywhere, on the high seas), with its
    /// distance: computed when it is asked for, in about 1 µs, and some more where none is near.
    package var nearestPlace: Place? {
        if let named { return named }
        return gazetteer.nearest(of: finding).flatMap { gazetteer.place(numbered: $0, from: finding.coordinate) }
    }

    /// Meters to ``nearestPlace``, without reading its name: about 0.5 µs.
    package var distanceMeters: Double? {
        if let named { return named.distanceMeters }
        return gazetteer.nearest(of: finding).flatMap { gazetteer.coordinate(numbered: $0) }
            .map { Geodesic.distanceMeters(from: finding.coordinate, to: $0) }
    }

    /// Where GeoNames puts the locality, or, out of all localities, the nearest place; nil where no place is in the
    /// country. It depends only on the locality that the coordinate belongs to.
    package var localityCenter: Coordinate? {
        switch finding.locality.locality {
        case .place(let number): gazetteer.coordinate(numbered: number)
        case .city(let number): gazetteer.cities?.coordinate(number)
        case nil: gazetteer.nearest(of: finding).flatMap { gazetteer.coordinate(numbered: $0) }
        }
    }

    /// The usual short name of the place: the address, the airport, the part of the city, the city, the lake,
    /// the region, the sea or the country, whichever of them comes first and is known.
    package var name: String? {
        addressLine ?? areasOfInterest.first ?? subLocality ?? locality ?? inlandWater ?? ocean ?? administrativeArea
            ?? country
    }

    /// A few words that name the place to other people: as ``name``, but a part of a city comes with the city, for
    /// example "Favoriten, Wien".
    package var shortAddress: String? {
        guard addressLine == nil, areasOfInterest.isEmpty, let quarter = subLocality, let city = locality else {
            return name
        }
        return Self.words(for: quarter, of: city)
    }

    private static func words(for quarter: String, of city: String) -> String {
        // "Paris 18e" already contains the city.
        quarter.split(separator: " ").contains { $0 == city } ? quarter : "\(quarter), \(city)"
    }

    /// The name of the place that was found by name, in the requested languages.
    package var nameOfFoundPlace: String? { named.map(name(ofPlace:)) }

    /// The same with names in other languages.
    package func speaking(_ languages: [Language]) -> Placemark {
        Placemark(finding, of: gazetteer, naming: named, in: languages)
    }

    /// The same without addresses and without things that are only near, for a coordinate that represents a wider area.
    package var ofArea: Placemark {
        var coarse = finding
        (coarse.besides.address, coarse.besides.village, coarse.besides.sights) = (nil, nil, [])
        return Placemark(coarse, of: gazetteer, naming: named, in: languages)
    }

    /// The same as ``ofArea``, also without parts of cities, towns and villages and without airports.
    package var ofCity: Placemark {
        var coarse = ofArea.finding
        coarse.locality.subLocality = nil
        coarse.besides.airports = []
        return Placemark(coarse, of: gazetteer, naming: named, in: languages)
    }

    /// The fewest people of a ``district``. At 5,000 to the square kilometer, these need a square kilometer at least.
    static let districtPeopleMin = 5000

    /// The part of the locality, as ``subLocality``, if many people live there, and the words that name it with its city;
    /// `nil` for a small part, for an address and for a village. In a large city it is a district, for example
    /// "Josefstadt" with the words "Josefstadt, Wien".
    package var district: (name: String, words: String)? {
        guard named == nil, let part = finding.locality.subLocality, let quarter = subLocality, let city = locality,
            let people = gazetteer.population(numbered: part), people >= Self.districtPeopleMin
        else { return nil }
        return (quarter, Self.words(for: quarter, of: city))
    }

    /// The same with a place as its name and, unless the place is already its locality or the part of it, as its
    /// locality.
    ///
    /// Country and region are then the place's own, which it knows better than their coarse borders do.
    func naming(_ place: Place) -> Placemark { Placemark(finding, of: gazetteer, naming: place, in: languages) }

    package static func == (one: Placemark, other: Placemark) -> Bool {
        one.gazetteer === other.gazetteer && one.finding == other.finding && one.wording == other.wording
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(finding)
        hasher.combine(wording)
    }

    /// The label of the first-order division.
    private var top: Int? { finding.region.map { gazetteer.regions?.tiling.parent($0) ?? $0 } }

    /// The area of the nearest place, used if the outline there is older than today's divisions or there is no outline.
    private var areaOfNearest: Int? {
        if let top {
            guard let tiling = gazetteer.regions?.tiling, tiling.code(top) == nil, tiling.name(top) == nil else {
                return nil
            }
        } else if finding.locality.locality == nil || gazetteer.regions == nil {
            return nil
        }
        guard let (area, country) = finding.nearest.flatMap({ gazetteer.area(numbered: $0) }),
            country == finding.country.flatMap(gazetteer.number)
        else { return nil }
        return area
    }

    /// Whether the division of the coordinate is that of the named place.
    private var isOwn: Bool {
        guard let code = named?.administrativeAreaISOCode else { return true }
        return code == top.flatMap { gazetteer.regions?.tiling.code($0) }
    }

    /// Whether a named place is the locality of the coordinate or the part of it.
    private func isPart(_ place: Place) -> Bool {
        town == place.name || part == place.name
    }

    private var address: AddressFinding? { named == nil ? finding.besides.address : nil }

    /// Street and number as they are written in the country; of a postal code that was asked for, the code.
    private var addressLine: String? {
        guard let address else { return nil }
        if case .spot(let spot) = address { return gazetteer.name(of: spot, in: languages) }
        guard let street = thoroughfare else { return gazetteer.postalCode(of: address) }
        guard let number = subThoroughfare else { return street }
        return finding.country.map(Self.numberFirst.contains) ?? false ? "\(number) \(street)" : "\(street) \(number)"
    }

    /// Where the number of the house is written before the street (Universal Postal Union, postal addressing systems).
    private static let numberFirst = Set(
        ["AU", "CA", "FR", "GB", "GG", "IE", "IM", "IN", "JE", "LU", "MC", "MY", "NZ", "PH", "PR", "SG", "US", "ZA"]
            .compactMap { CountryCode($0) })

    /// The town of the address, where that is neither the locality nor the part of it by the places.
    private var strangeTown: String? {
        guard let own = address.flatMap(gazetteer.locality) else { return nil }
        return gazetteer.isSame(own, town) || gazetteer.isSame(own, part) ? nil : own
    }

    private var village: Spot? { named == nil ? finding.besides.village : nil }

    /// A village that is no part of the locality, but is it.
    private var villageAlone: Spot? {
        guard let village else { return nil }
        switch finding.locality.locality {
        case .city: return nil
        case .place: return gazetteer.isPart(village) ? nil : village
        case nil: return village
        }
    }

    /// The locality in the languages asked for.
    private var townName: String? {
        switch finding.locality.locality {
        case .place(let number): name(ofPlaceNumbered: number)
        case .city(let number): gazetteer.cityName(number, in: languages)
        case nil: nil
        }
    }

    /// The locality and the part of it as GeoNames calls them.
    private var town: String? {
        switch finding.locality.locality {
        case .place(let number): gazetteer.name(numbered: number)
        case .city(let number): gazetteer.cities?.name(number)
        case nil: nil
        }
    }
    private var part: String? { finding.locality.subLocality.flatMap { gazetteer.name(numbered: $0) } }

    private func name(of region: Int?) -> String? {
        guard let region, let tiling = gazetteer.regions?.tiling else { return nil }
        return gazetteer.translation(of: .division(region), in: languages) ?? tiling.name(region)
    }

    private func name(ofPlaceNumbered number: Int) -> String? {
        gazetteer.name(ofPlace: number, in: languages)
    }

    private func name(ofPlace place: Place) -> String {
        gazetteer.translation(of: .place(geonameID: place.geonameID), in: languages) ?? place.name
    }
}

/// The placemarks of many coordinates, in order, each made when it is looked at.
package struct Placemarks: RandomAccessCollection, Sendable {
    private let gazetteer: Gazetteer
    private let findings: [Finding]

    init(_ findings: [Finding], of gazetteer: Gazetteer) {
        self.gazetteer = gazetteer
        self.findings = findings
    }

    /// Its own: the default one asks for memory at every element.
    package struct Iterator: IteratorProtocol {
        private let gazetteer: Gazetteer
        private var findings: IndexingIterator<[Finding]>

        fileprivate init(_ placemarks: Placemarks) {
            gazetteer = placemarks.gazetteer
            findings = placemarks.findings.makeIterator()
        }

        package mutating func next() -> Placemark? { findings.next().map { Placemark($0, of: gazetteer) } }
    }

    package func makeIterator() -> Iterator { Iterator(self) }
    package var startIndex: Int { 0 }
    package var endIndex: Int { findings.count }
    package subscript(index: Int) -> Placemark { Placemark(findings[index], of: gazetteer) }
}
