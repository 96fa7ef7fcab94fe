import Geodesy
import Glibc
import TestSupport
import Testing

@testable import Gazetteer

@Suite struct PlacemarkTests {
    let gazetteer: Gazetteer
    let transform: GeocentricTransform

    init() throws {
        gazetteer = try Gazetteer(path: Repository.gazetteerPath)
        transform = GeocentricTransform()
    }

    private func placemark(
        _ latitude: Double, _ longitude: Double, accuracyMeters: Double? = nil
    ) throws -> Placemark {
        let coordinate = try Coordinate(latitude: latitude, longitude: longitude)
        return gazetteer.placemark(at: coordinate, accuracyMeters: accuracyMeters, using: transform)
    }

    /// Landmarks, with the division and code ISO 3166-2 lists and the city an atlas has there.
    @Test(arguments: [
        (48.2085, 16.3721, "AT", "Österreich", "AT-9", "Wien"),
        (43.6426, -79.3871, "CA", "Canada", "CA-ON", "Toronto"),
        (40.7357, -74.1724, "US", "United States", "US-NJ", "Newark"),
        (35.6595, 139.7005, "JP", "Japan", "JP-13", "Tokyo"),
        (48.8584, 2.2945, "FR", "France", "FR-IDF", "Paris"),
        (55.9533, -3.1883, "GB", "United Kingdom", "GB-SCT", "Edinburgh"),
        (-33.8568, 151.2153, "AU", "Australia", "AU-NSW", "Sydney"),
    ])
    func `a place in a city has its country, region with ISO code and city`(
        latitude: Double, longitude: Double, code: String, country: String, area: String, locality: String
    ) throws {
        let found = try placemark(latitude, longitude)
        #expect(found.isoCountryCode?.description == code)
        #expect(found.country == country)
        #expect(found.administrativeAreaCode == area)
        #expect(found.locality == locality)
        #expect(found.ocean == nil)
        #expect(found.inlandWater == nil)
    }

    @Test func `a part of a large city is a sublocality, a city beside it is a city`() throws {
        let shibuya = try placemark(35.6595, 139.7005)
        #expect(shibuya.locality == "Tokyo")
        #expect(shibuya.subLocality == "Shibuya")
        let josefstadt = try placemark(48.2115, 16.3465)
        #expect(josefstadt.locality == "Wien")
        #expect(josefstadt.subLocality == "Josefstadt")
        let newark = try placemark(40.7357, -74.1724)
        #expect(newark.locality == "Newark")
        #expect(newark.subLocality == nil)
    }

    @Test func `a department is the part of a region`() throws {
        let milan = try placemark(45.4642, 9.19)
        #expect(milan.administrativeAreaCode == "IT-25")
        #expect(milan.subAdministrativeArea == "Milano")
    }

    @Test(
        arguments: [
            (0.0, -30.0, "Atlantic Ocean"), (-55, -140, "Pacific Ocean"), (-30, 80, "Indian Ocean"),
            (88, 0, "Arctic Ocean"), (-63, 100, "Southern Ocean"), (36, 18, "Mediterranean Sea"),
            (15, -75, "Caribbean Sea"), (56, 3, "North Sea"), (43, 34, "Black Sea"), (57, -179, "Bering Sea"),
        ] as [(Double, Double, String)])
    func `the high seas have their name and neither country nor city`(
        latitude: Double, longitude: Double, ocean: String
    ) throws {
        let found = try placemark(latitude, longitude)
        #expect(found.ocean == ocean)
        #expect(found.isoCountryCode == nil)
        #expect(found.country == nil)
        #expect(found.administrativeArea == nil)
        #expect(found.locality == nil)
        #expect(found.timeZone?.hasPrefix("Etc/") == true)
    }

    @Test func `the Caspian Sea is inland water, not an ocean`() throws {
        let found = try placemark(42, 50.5)
        #expect(found.inlandWater == "Caspian Sea")
        #expect(found.ocean == nil)
    }

    /// Atlas points in the middle of lakes.
    @Test(
        arguments: [
            (47.7, -87.5, "Lake Superior", "US"), (-1, 33, "Lake Victoria", "UG"), (53.5, 108.1, "Lake Baikal", "RU"),
            (58.9, 13.3, "Lake Vänern", "SE"), (9.8, -71.5, "Lake Maracaibo", "VE"),
        ] as [(Double, Double, String, String)])
    func `a large lake is inland water of a country, and no town is named in its middle`(
        latitude: Double, longitude: Double, lake: String, country: String
    ) throws {
        let found = try placemark(latitude, longitude)
        #expect(found.inlandWater == lake)
        #expect(found.isoCountryCode?.description == country)
        #expect(found.ocean == nil && found.locality == nil)
    }

    /// Governing and claiming countries, by an atlas.
    @Test(
        arguments: [
            (44.95, 34.1, "UA", ["RU", "UA"]), (34.08, 74.8, "IN", ["IN", "PK"]), (42.66, 21.16, "XK", ["RS", "XK"]),
            (33.1, 35.8, "IL", ["IL", "SY"]), (36.14, -5.35, "GI", ["ES", "GI"]), (48.2, 16.4, "AT", []),
            (45.0, 141.7, "JP", []),
        ] as [(Double, Double, String, [String])])
    func `contested land names all who claim it, and belongs to who governs it`(
        latitude: Double, longitude: Double, country: String, claimants: [String]
    ) throws {
        let found = try placemark(latitude, longitude)
        #expect(found.isoCountryCode?.description == country)
        #expect(found.claimants.map(\.description) == claimants)
    }

    @Test func `in a country's view the land it claims is its own, and only that`() throws {
        let pakistani = try Gazetteer(path: Repository.gazetteerPath, worldview: CountryCode("PK"))
        let srinagar = try Coordinate(latitude: 34.08, longitude: 74.8)
        let vienna = try Coordinate(latitude: 48.2, longitude: 16.4)
        let golan = try Coordinate(latitude: 33.1, longitude: 35.8)
        let found = pakistani.placemark(at: srinagar, using: transform)
        #expect(found.country == "Pakistan")
        #expect(found.claimants.map(\.description) == ["IN", "PK"])
        #expect(found.locality == "Srinagar")
        #expect(pakistani.placemark(at: vienna, using: transform).country == "Österreich")
        #expect(pakistani.placemark(at: golan, using: transform).country == "Israel")
    }

    /// As an atlas in that language prints them.
    @Test(
        arguments: [
            (48.2085, 16.3721, ["de"], "Österreich", "Wien"), (48.2085, 16.3721, ["fr-CA"], "Autriche", "Vienne"),
            (48.2085, 16.3721, ["ja", "de"], "オーストリア", "Wien"), (48.2085, 16.3721, ["en", "de"], "Austria", "Vienna"),
            (48.2085, 16.3721, ["tlh", "it"], "Austria", "Vienna"), (48.2085, 16.3721, [""], "Österreich", "Wien"),
            (48.2085, 16.3721, [], "Österreich", "Wien"), (48.2085, 16.3721, ["de-AT", "en"], "Österreich", "Wien"),
            (50.94, 6.96, ["en", "fr"], "Germany", "Köln"), (48.137, 11.575, ["en"], "Germany", "Munich"),
            (35.6595, 139.7005, [], "Japan", "Tokyo"),
            (55.7558, 37.6173, ["de"], "Russland", "Moskau"),
        ] as [(Double, Double, [String], String, String)])
    func `names are in the first language asked for that has them`(
        latitude: Double, longitude: Double, tags: [String], country: String, locality: String
    ) throws {
        let found = try placemark(latitude, longitude).speaking(gazetteer.languages(tags))
        #expect(found.country == country)
        #expect(found.locality == locality)
    }

    /// An answer never mixes languages, as "Vienna" and "Neubau" or "Munich" and "Bayern" would.
    @Test(
        arguments: [
            (48.203, 16.345, "Neubau", "Wien", "Wien", "Österreich", [] as [String]),
            (48.203, 16.345, "Neubau", "Vienna", "Vienna", "Austria", ["en"]),
            (48.1499, 11.4613, "Pasing", "München", "Bayern", "Deutschland", []),
            (48.1499, 11.4613, "Pasing", "Munich", "Bavaria", "Germany", ["en"]),
            (48.8867, 2.3431, "Paris 18e", "Paris", "Île-de-France", "France", []),
            (52.4997, 13.4034, "Kreuzberg", "Berlin", "Berlin", "Deutschland", []),
            (53.55, 9.9333, "Altona", "Hamburg", "Hamburg", "Deutschland", []),
        ] as [(Double, Double, String, String, String, String, [String])])
    func `a quarter names its city, and all names of an answer are of one language`(
        latitude: Double, longitude: Double, quarter: String, city: String, area: String, country: String,
        tags: [String]
    ) throws {
        let found = try placemark(latitude, longitude).speaking(gazetteer.languages(tags))
        #expect(found.subLocality == quarter)
        #expect(found.locality == city)
        #expect(found.administrativeArea == area)
        #expect(found.country == country)
    }

    @Test(
        arguments: [
            (48.1612, 16.3823, "Favoriten, Wien"), (48.8867, 2.3431, "Paris 18e"), (47.8, 13.04, "Salzburg"),
            (50.0505, 8.5717, "Frankfurt am Main International Airport"), (35.9, -5.6, "Strait of Gibraltar"),
        ] as [(Double, Double, String)])
    func `a short address has the part of a city with the city`(
        latitude: Double, longitude: Double, words: String
    ) throws {
        #expect(try placemark(latitude, longitude).shortAddress == words)
    }

    /// Divisions that were split, renamed or merged since the outlines were drawn, or misspelled in them. The expected
    /// names come from ISO 3166-2 and the news.
    @Test(
        arguments: [
            (40.8, 111.7, "CN-NM", "Inner Mongolia"), (19.43, -99.13, "MX-CMX", "Ciudad de México"),
            (40.92, 9.5, "IT-88", "Sardegna"), (22.3193, 114.1694, "CN-HK", "Hong Kong"),
            (0.52, 35.27, "KE-44", "Uasin Gishu"), (-4.05, 39.66, "KE-28", "Mombasa"),
            (-1.29, 36.82, "KE-30", "Nairobi"),
            (50.45, 30.52, "UA-30", "Kyiv"), (17.4, 78.48, "IN-TG", "Telangana"), (34.16, 77.58, "IN-LA", "Ladakh"),
            (9.4, -0.84, "GH-NP", "Northern"), (61.11, 10.46, "NO-34", "Innlandet"), (50.41, 80.25, "KZ-10", "Abai"),
            (-6.2, 106.82, "ID-JK", "DKI Jakarta"), (18.45, -66.07, "US-PR", "Puerto Rico"),
            (44.8, 20.46, "RS-00", "Grad Beograd"), (25.03, 121.56, "TW-TPE", "Taipei City"),
        ] as [(Double, Double, String, String)])
    func `a division has today's name and code`(
        latitude: Double, longitude: Double, code: String, name: String
    ) throws {
        let found = try placemark(latitude, longitude)
        #expect(found.administrativeAreaCode == code)
        #expect(found.administrativeArea == name)
    }

    /// Atlas points in the middle of straits, wide enough for coarse shores to leave water between them.
    @Test(
        arguments: [
            (35.95, -5.55, "Strait of Gibraltar"), (51.03, 1.42, "Strait of Dover"), (26.5, 56.5, "Strait of Hormuz"),
            (24.3, 119.2, "Taiwan Strait"), (-39.8, 145.5, "Bass Strait"), (65.9, -168.4, "Bering Strait"),
            (-17, 42, "Mozambique Channel"), (-58.5, -62, "Drake Passage"), (55.9, 12.75, "Øresund"),
            (12.6, 43.35, "Bab-el-Mandeb"),
            (34.2, 129.6, "Korea Strait"), (-41.2, 174.55, "Cook Strait"), (62.5, -71, "Hudson Strait"),
        ] as [(Double, Double, String)])
    func `straits and channels have their names`(latitude: Double, longitude: Double, strait: String) throws {
        #expect(try placemark(latitude, longitude).ocean == strait)
    }

    /// Points of an atlas of Antarctica well within its shelves: Ross, Ronne, Filchner, Amery, Larsen C, Wilkins,
    /// Shackleton, Getz, Totten, Drygalski, Brunt.
    @Test(
        arguments: [
            (-79, -175), (-78.2, -170), (-77.5, -60), (-79.5, -40), (-70, 71), (-67.5, -62.5), (-70.5, -72.5),
            (-65.8, 98),
            (-74.3, -125), (-66.9, 116), (-75.4, 164.5), (-75.7, -26),
        ] as [(Double, Double)])
    func `an ice shelf is not sea`(latitude: Double, longitude: Double) throws {
        let found = try placemark(latitude, longitude)
        #expect(found.ocean == nil)
        #expect(found.country == "Antarctica")
    }

    /// Terminals by their operators' plans: more than two kilometers from the reference point, or nearly so.
    @Test(
        arguments: [
            (50.0505, 8.5717, "Frankfurt am Main International Airport"), (51.4700, -0.4543, "London Heathrow Airport"),
            (49.0040, 2.5710, "Charles de Gaulle International Airport"),
            (39.8494, -104.6738, "Denver International Airport"),
            (48.3537, 11.7861, "Munich International Airport"), (50.9010, 4.4850, "Brussels Airport"),
        ] as [(Double, Double, String)])
    func `the area of a large airport follows its runways`(latitude: Double, longitude: Double, name: String) throws {
        #expect(try placemark(latitude, longitude).areasOfInterest == [name])
    }

    @Test func `an airport is of interest within two kilometers of its reference point`() throws {
        #expect(try placemark(48.1103, 16.5697).areasOfInterest == ["Vienna International Airport"])
        #expect(try placemark(48.2085, 16.3721).areasOfInterest == [])
    }

    @Test func `near a border the other country within the accuracy is listed, and only then`() throws {
        // Basel: the border to France and that to Germany are 2 km and 3 km off.
        #expect(try placemark(47.56, 7.59, accuracyMeters: 10).otherCountryCodes == [])
        let wide = try placemark(47.56, 7.59, accuracyMeters: 6000)
        #expect(wide.isoCountryCode?.description == "CH")
        #expect(wide.otherCountryCodes.map(\.description) == ["DE", "FR"])
        #expect(wide.otherTimeZones == ["Europe/Berlin", "Europe/Paris"])
    }

    @Test(arguments: [-61.0, -75, -90]) func `land south of 60° S is Antarctica`(latitude: Double) throws {
        let country = gazetteer.country(at: try Coordinate(latitude: latitude, longitude: -45))
        #expect(country == nil || country?.description == "AQ")
        #expect(try placemark(-75, 0).country == "Antarctica")
    }

    @Test func `both ends of the longitudes, and a pole at every longitude, are one place`() throws {
        for latitude in [-79.5, -16.8, 0, 51.9, 68] {
            let west = try placemark(latitude, -180)
            let east = try placemark(latitude, 180)
            #expect(west.isoCountryCode == east.isoCountryCode)
            #expect(west.administrativeArea == east.administrativeArea)
            #expect(west.locality == east.locality)
            #expect(west.ocean == east.ocean)
            #expect(west.timeZone == east.timeZone)
        }
        for latitude in [-90.0, 90] {
            let first = try placemark(latitude, 0)
            for longitude in stride(from: -180.0, through: 180, by: 7.5) {
                let other = try placemark(latitude, longitude)
                #expect(other.isoCountryCode == first.isoCountryCode)
                #expect(other.administrativeArea == first.administrativeArea)
                #expect(other.ocean == first.ocean)
                #expect(other.timeZone == first.timeZone)
            }
        }
    }

    /// In the Pacific, where more than eight places of a country may be nearest as chords go.
    @Test func `the nearest place far out is the nearest of all by geodesic`() throws {
        var chance = SplitMix(24)
        for _ in 0..<300 {
            let far = try Coordinate(
                latitude: Double.random(in: -40...10, using: &chance),
                longitude: Double.random(in: -140...(-100), using: &chance))
            let found = gazetteer.placemark(at: far, using: transform)
            guard found.isoCountryCode == nil else { continue }
            #expect(found.nearestPlace == gazetteer.nearest(to: far, using: transform))
        }
    }

    /// Ten million coordinates in the long form, a fiftieth otherwise: on the sphere, along the meridians and parallels
    /// of cells, at the poles and at the ends of the longitudes.
    @Test func `no coordinate brings the gazetteer down, and each has a time zone`() throws {
        let count = isLongForm ? 10_000_000 : 200_000
        var chance = SplitMix(26)
        var without = 0
        for number in 0..<count {
            let sphere = try chance.coordinate()
            let coordinate =
                switch number % 5 {
                case 0, 1: sphere
                case 2: try Coordinate(latitude: (sphere.latitude * 10).rounded() / 10, longitude: sphere.longitude)
                case 3: try Coordinate(latitude: sphere.latitude, longitude: (sphere.longitude * 2).rounded() / 2)
                default:
                    try Coordinate(
                        latitude: min(max(sphere.latitude * 1.2, -90), 90),
                        longitude: min(max(sphere.longitude * 1.2, -180), 180))
                }
            let found = gazetteer.placemark(at: coordinate, using: transform)
            if found.timeZone == nil { without += 1 }
            if number % 16 == 0 { _ = (found.name, found.nearestPlace, found.administrativeAreaCode, found.ocean) }
        }
        #expect(without == 0)
    }

    @Test func `many at once are the same as one by one, and the fast paths agree with them`() throws {
        var chance = SplitMix(21)
        let coordinates = try (0..<2000).map { _ in try chance.coordinate() }
        let many = gazetteer.placemarks(at: coordinates, using: transform)
        for (coordinate, placemark) in zip(coordinates, many) {
            #expect(placemark == gazetteer.placemark(at: coordinate, using: transform))
            #expect(placemark.isoCountryCode == gazetteer.country(at: coordinate))
            #expect(placemark.timeZone == gazetteer.timeZone(at: coordinate))
        }
    }

    @Test func `the region and the nearest place are always of the country the zone gives`() throws {
        var chance = SplitMix(22)
        for _ in 0..<3000 {
            let coordinate = try chance.coordinate()
            let found = gazetteer.placemark(at: coordinate, using: transform)
            if let code = found.administrativeAreaCode {
                // ISO 3166-2 lists some countries of ISO 3166-1 as parts of others.
                let country = found.isoCountryCode?.description ?? "?"
                #expect(code.hasPrefix("\(country)-") || ["CN", "FI", "FR", "NL", "NO", "US"].contains(code.prefix(2)))
            }
            if let place = found.nearestPlace, let country = found.isoCountryCode {
                #expect(place.countryCode == country.description)
            }
            #expect((found.ocean == nil) || (found.inlandWater == nil && found.locality == nil))
        }
    }

    @Test func `without the other files beside it the places alone are known`() throws {
        let file = try TemporaryFile(contents(ofFile: Repository.gazetteerPath))
        let alone = try Gazetteer(path: file.path)
        let found = alone.placemark(at: try Coordinate(latitude: 48.2085, longitude: 16.3721), using: transform)
        #expect(found.isoCountryCode == nil && found.administrativeArea == nil && found.timeZone == nil)
        #expect(found.nearestPlace?.name == "Vienna")
    }

    @Test func `every source is attributed`() {
        for source in [
            "GeoNames", "OpenStreetMap contributors", "Natural Earth", "iso-codes", "airportsdata",
        ] { #expect(gazetteer.attribution.contains(source)) }
    }

    @Test func `a placemark prints without saying where it is`() throws {
        #expect(try "\(placemark(48.2, 16.4))" == "Placemark(…)")
    }
}
