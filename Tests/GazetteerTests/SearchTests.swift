import Geodesy
import TestSupport
import Testing

@testable import Gazetteer

/// Coordinates are those an atlas gives, so a name is found if the place lies near.
@Suite struct SearchTests {
    let gazetteer: Gazetteer
    let transform: GeocentricTransform

    init() throws {
        gazetteer = try Gazetteer(path: Repository.gazetteerPath)
        transform = GeocentricTransform()
    }

    private func first(_ text: String) -> FoundPlace? { gazetteer.places(named: text, limit: 1).first }

    private func expect(
        _ text: String, near latitude: Double, _ longitude: Double, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try #require(first(text), "\(text) is not found", sourceLocation: sourceLocation)
        let atlas = try Coordinate(latitude: latitude, longitude: longitude)
        #expect(
            Geodesic.distanceMeters(from: atlas, to: found.place.coordinate) < 25_000,
            "\(text) is \(found.place.name), \(found.place.country)", sourceLocation: sourceLocation)
    }

    @Test(
        arguments: [
            ("Wien", 48.21, 16.37), ("Bécs", 48.21, 16.37), ("Köln", 50.94, 6.96),
            ("Cologne", 50.94, 6.96), ("Москва", 55.75, 37.62), ("القاهرة", 30.04, 31.24), ("北京", 39.9, 116.4),
            ("東京", 35.68, 139.69), ("서울", 37.57, 126.98), ("Αθήνα", 37.98, 23.73), ("ירושלים", 31.77, 35.22),
            ("मुंबई", 19.07, 72.88), ("กรุงเทพ", 13.75, 100.5), ("თბილისი", 41.72, 44.79), ("Երևան", 40.18, 44.51),
            ("ロンドン", 51.51, -0.13), ("Pressburg", 48.15, 17.11), ("Constantinople", 41.01, 28.96),
        ] as [(String, Double, Double)])
    func `a place is found by its names in every language and script`(
        name: String, latitude: Double, longitude: Double
    ) throws {
        try expect(name, near: latitude, longitude)
        #expect(first(name)?.match == .exact)
    }

    @Test(
        arguments: [
            ("Sao Paulo", -23.55, -46.63), ("SÃO PAULO", -23.55, -46.63), ("L'Aquila", 42.35, 13.4),
            ("Laquila", 42.35, 13.4), ("Muenchen", 48.14, 11.58), ("Malmoe", 55.61, 13.0), ("Lodz", 51.76, 19.46),
            ("St. Gallen", 47.42, 9.37), ("Sankt-Gallen", 47.42, 9.37), ("saint gallen", 47.42, 9.37),
            ("Ft Worth", 32.73, -97.32), ("Thành phố Hồ Chí Minh", 10.78, 106.7), ("İZMİR", 38.41, 27.14),
        ] as [(String, Double, Double)])
    func `marks, capitals, hyphens and abbreviations make no difference`(
        name: String, latitude: Double, longitude: Double
    ) throws {
        try expect(name, near: latitude, longitude)
    }

    @Test(
        arguments: [
            ("Springfield, IL", 39.8, -89.64), ("Springfield Illinois", 39.8, -89.64),
            ("Springfield Ill.", 39.8, -89.64), ("IL, Springfield", 39.8, -89.64),
            ("Springfield, Massachusetts", 42.1, -72.59), ("Wellington NZ", -41.29, 174.78),
            ("Taunton, Somerset, England", 51.02, -3.1), ("Vienne Isère", 45.52, 4.88),
            ("Toronto Ontario", 43.65, -79.38), ("London Ontario", 42.98, -81.25), ("München Bayern", 48.14, 11.58),
            ("Lyon, Frankreich", 45.75, 4.85), ("Deutschland Berlin", 52.52, 13.41), ("Cambridge MA", 42.37, -71.11),
            ("Cambridge UK", 52.2, 0.12), ("Perth Scotland", 56.4, -3.43), ("Portland, Maine", 43.66, -70.26),
            ("Kreuzberg, Berlin", 52.5, 13.39), ("Villa Maria Cordoba Argentina", -32.41, -63.24),
            ("Burton SA", -34.73, 138.6), ("Mecca, SA", 21.43, 39.83), ("Malacca MY", 2.2, 102.25),
            ("Cordoba Spain", 37.89, -4.78), ("Frankfurt (Oder)", 52.35, 14.55), ("大阪, 日本", 34.69, 135.5),
        ] as [(String, Double, Double)])
    func `a country, division or city before or behind a name tells it from others`(
        name: String, latitude: Double, longitude: Double
    ) throws {
        try expect(name, near: latitude, longitude)
    }

    @Test(
        arguments: [
            ("Londno", 51.51, -0.13, 1), ("Reykjavic", 64.14, -21.9, 1), ("Johhanesbrug", -26.2, 28.04, 2),
            ("Siydnney Australia", -33.87, 151.21, 2), ("Buenqos Aires, AR", -34.61, -58.38, 1),
            ("Vitesbk, BY", 55.19, 30.2, 1),
        ] as [(String, Double, Double, Int)])
    func `up to two typing errors are forgiven`(
        name: String, latitude: Double, longitude: Double, edits: Int
    ) throws {
        try expect(name, near: latitude, longitude)
        #expect(first(name)?.match == .misspelled(edits: edits))
    }

    @Test(
        arguments: [
            ("Москва, Россия", 55.75, 37.62), ("Владивосток, Россия", 43.12, 131.89), ("Kemerovo, Rusko", 55.35, 86.09),
            ("Boston, США", 42.36, -71.06), ("Damas, Syrie", 33.51, 36.29), ("Szöul, Dél-Korea", 37.57, 126.98),
        ] as [(String, Double, Double)])
    func `a country is known by what its neighbours call it`(name: String, latitude: Double, longitude: Double) throws {
        try expect(name, near: latitude, longitude)
        #expect(first(name)?.match == .exact)
    }

    /// Hamburg is as many edits from the text, and larger.
    /// Dachau is 17 km from Munich, Augsburg 57 km; Eisenstadt is 42 km from Vienna.
    @Test func `a larger town qualifies what is near it, and nothing farther away`() throws {
        try expect("Dachau, München", near: 48.26, 11.43)
        #expect(first("Augsburg, München") == nil)
        #expect(first("Eisenstadt, Wien") == nil)
    }

    @Test func `who mistypes has mostly got the first letter right`() throws {
        try expect("Maeburg, DE", near: 52.13, 11.63)
    }

    @Test(
        arguments: [
            ("Vladivostok, Xyzzyqqq", 43.12, 131.89), ("Timbuktu; Qqqxyzzy", 16.77, -3.01),
        ] as [(String, Double, Double)])
    func `where nothing is known of what stands behind a comma the name alone is found, and that is said`(
        name: String, latitude: Double, longitude: Double
    ) throws {
        try expect(name, near: latitude, longitude)
        #expect(first(name)?.match == .nameOnly)
        #expect(gazetteer.places(named: "Vladivostok, Japan").allSatisfy { $0.match != .nameOnly })
    }

    @Test(
        arguments: [
            ("Nanjing (Xyzzyqqq)", 32.06, 118.78), ("Bhubaneswar, Odisha (Orissa)", 20.27, 85.84),
            ("Leipzig（Xyzzyqqq）", 51.34, 12.37),
        ] as [(String, Double, Double)])
    func `what stands in brackets says the same again`(name: String, latitude: Double, longitude: Double) throws {
        try expect(name, near: latitude, longitude)
        #expect(first(name)?.match == .exact)
    }

    /// Odessa in Texas is written so in Latin letters.
    @Test func `in another script no name is the main one`() throws {
        try expect("Одесса", near: 46.48, 30.73)
        try expect("Odessa", near: 31.85, -102.37)
    }

    @Test(arguments: [("San Franc", 37.77, -122.42), ("Amsterd", 52.37, 4.9), ("welling NZ", -41.29, 174.78)])
    func `the beginning of a name finds the most populous that begins so`(
        name: String, latitude: Double, longitude: Double
    ) throws {
        try expect(name, near: latitude, longitude)
        #expect(first(name)?.match == .prefix)
    }

    @Test(
        arguments: [
            "", " ", ",", "!?", "Xyzzyqqq", "🜚", String(repeating: "a", count: 300),
            String(repeating: "a ", count: 100), "\u{0}", "\u{300}",
        ])
    func `where nothing is called so nothing is found`(text: String) {
        #expect(gazetteer.places(named: text) == [])
    }

    @Test func `of several places of a name the most populous come first, as many as asked for`() throws {
        let found = gazetteer.places(named: "Springfield", limit: 5)
        #expect(found.count == 5)
        #expect(found.allSatisfy { $0.place.name == "Springfield" && $0.match == .exact })
        let populations = found.map(\.place.population)
        #expect(populations == populations.sorted(by: >))
        #expect(Array(gazetteer.places(named: "Springfield", limit: 2)) == Array(found.prefix(2)))
    }

    private func found(_ text: String) -> Found? {
        gazetteer.found(named: text, limit: 1, using: transform).first
    }

    private func area(_ text: String) -> FoundArea? {
        if case .area(let area) = found(text) { area } else { nil }
    }

    @Test(
        arguments: [
            ("Germany", "DE"), ("germany", "DE"), ("Deutschland", "DE"), ("Allemagne", "DE"), ("ドイツ", "DE"),
            ("DEU", "DE"),
            ("DE", "DE"), ("USA", "US"), ("Georgia", "GE"), ("Россия", "RU"), ("中国", "CN"), ("Côte d'Ivoire", "CI"),
            ("Österreich", "AT"), ("UK", "GB"), ("Singapore", "SG"), ("Luxembourg", "LU"), ("Germny", "DE"),
        ])
    func `a country is found by its names in every language and by its codes`(text: String, code: String) throws {
        let area = try #require(self.area(text), "\(text) is no country")
        #expect(area.kind == .country)
        #expect(gazetteer.country(of: area)?.description == code)
    }

    @Test(
        arguments: [
            ("Bavaria", "DE-BY"), ("Bayern", "DE-BY"), ("Bavière", "DE-BY"), ("Texas", "US-TX"), ("Hokkaido", "JP-01"),
            ("北海道", "JP-01"), ("Inner Mongolia", "CN-NM"), ("Ontario", "CA-ON"), ("Georgia, USA", "US-GA"),
            ("Texas United States", "US-TX"), ("Washington", "US-WA"), ("NSW", "AU-NSW"), ("US-TX", "US-TX"),
            ("Sardinia", "IT-88"), ("Sardegna", "IT-88"), ("Catalunya", "ES-CT"), ("Московская область", "RU-MOS"),
            ("Nairobi County", "KE-30"), ("Niederösterreich", "AT-3"), ("Bavara", "DE-BY"), ("Califor", "US-CA"),
        ])
    func `a first-order division is found`(text: String, code: String) throws {
        let area = try #require(self.area(text), "\(text) is no division")
        #expect(area.kind == .administrativeArea)
        #expect(gazetteer.administrativeAreaCode(of: area) == code)
    }

    /// The name alone means the city; the division comes after it.
    @Test(arguments: [
        "New York", "São Paulo", "Wien", "Berlin", "Salzburg", "Tokyo", "Moscow", "Zürich", "Lagos", "Kerman",
    ])
    func `a city comes before its division of the same name`(text: String) throws {
        #expect(area(text) == nil)
        let all = gazetteer.found(named: text, limit: 10, using: transform)
        #expect(all.contains { if case .area(let area) = $0 { area.kind == .administrativeArea } else { false } })
    }

    /// "de" is a word, "DE" a code.
    @Test func `codes are found in capitals only`() {
        #expect(area("DE")?.kind == .country)
        for text in ["de", "in", "or", "nsw"] { #expect(area(text) == nil) }
    }

    @Test(
        arguments: [
            ("Heathrow Airport", 51.47, -0.46), ("Vienna International Airport", 48.11, 16.57),
            ("Frankfurt Airport", 50.03, 8.55),
            ("VIE", 48.11, 16.57), ("EDDF", 50.03, 8.55), ("Lake Victoria", -1.0, 33.0), ("Victoria Lake", -1.0, 33.0),
            ("Bodensee", 47.6, 9.4), ("Lake Constance", 47.6, 9.4), ("Lac Léman", 46.4, 6.5),
            ("Loch Ness", 57.3, -4.45),
        ] as [(String, Double, Double)])
    func `airports and lakes are found`(text: String, latitude: Double, longitude: Double) throws {
        let area = try #require(self.area(text), "\(text) is not found")
        let atlas = try Coordinate(latitude: latitude, longitude: longitude)
        #expect(Geodesic.distanceMeters(from: atlas, to: area.coordinate) < 60_000)
    }

    @Test(arguments: [
        "my house", "home", "Home", "my parents house", "work", "asdf qwer", "qwertyuiop", "zuhause", "xy", "Hz",
        "the office",
        "blah blah blah", "lorem ipsum", "test test", "asdfasdf",
        // One letter away from the code of an airport or a city. A code is not a word that people misspell.
        "asdf", "hgfd", "xqzvw", "xqzv",
    ])
    func `a text that names no place finds nothing`(text: String) {
        #expect(found(text) == nil, "\(text) is \(String(describing: gazetteer.places(named: text).first?.place.name))")
    }

    @Test func `a village called Home is found with its country`() {
        #expect(first("Home, Washington")?.place.name == "Home")
    }

    @Test func `a misspelled name must keep its first letter, and a village needs its country`() throws {
        // It has few inhabitants, and many words are as similar to its name.
        #expect(first("Kitzbühe1")?.match != .misspelled(edits: 2))
        #expect(first("Ome") == nil || first("Ome")?.match == .exact || first("Ome")?.match == .prefix)
        try expect("Hallstadt, Österreich", near: 47.56, 13.65)
    }

    @Test func `a code such as an airport's finds its city, but not before one of that name`() {
        #expect(first("MUC")?.place.name == "Munich")
        // Ulm's main name against codes and abbreviations of others.
        #expect(first("Ulm")?.place.name == "Ulm")
    }

    @Test func `a found place is the locality of its placemark, in the division it belongs to`() throws {
        let saintLouis = try #require(first("St. Louis"))
        let placemark = gazetteer.placemark(of: saintLouis, using: transform)
        #expect(placemark.locality == "St. Louis")
        // On the bank of the river that parts Missouri from Illinois.
        #expect(placemark.administrativeAreaCode == "US-MO")
        #expect(placemark.isoCountryCode?.description == "US")
    }

    /// Each main name of a sample, asked for as it is with its country, finds a place of that name there.
    @Test func `every place is found by its own name and country`() throws {
        var chance = SplitMix(23)
        for _ in 0..<60 {
            let number = Int.random(in: 0..<gazetteer.placeCount, using: &chance)
            let place = try #require(gazetteer.place(numbered: number))
            let question = "\(place.name), \(place.countryCode)"
            guard question.utf8.count <= 64 else { continue }
            let found = gazetteer.places(named: question, limit: 200)
            #expect(
                found.contains { $0.place.geonameID == place.geonameID && $0.match == .exact }, "\(question) is lost")
        }
    }
}
