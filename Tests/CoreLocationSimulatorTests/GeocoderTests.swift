import CoreLocation
import TestSupport
import Testing

@Suite struct GeocoderTests {
    /// The names this project comes with.
    static let geocoding = Result {
        try SimulatedGeocoding(gazetteerPath: "\(Repository.root)/data/places.gazetteer")
    }

    private typealias Outcome = (placemarks: [CLPlacemark], code: Int?)

    /// A running app and the outcomes of its requests.
    private final class Requests: @unchecked Sendable {
        let scene = ModernScene { _ in MonitoringApp(.init(opens: false, holdsSession: false)) }
        private(set) var outcomes: [Outcome] = []
        private(set) var geocoder: CLGeocoder

        init(_ geocoding: SimulatedGeocoding?) {
            scene.device.geocoding = geocoding
            scene.application.open()
            geocoder = scene.application.run { CLGeocoder() }
        }

        func reverse(_ latitude: Double, _ longitude: Double) {
            geocoder.reverseGeocodeLocation(CLLocation(latitude: latitude, longitude: longitude)) {
                self.outcomes.append(($0 ?? [], $1.map(code)))
            }
        }

        func advance(_ seconds: Double) { scene.advance(seconds) }
        var codes: [Int?] { outcomes.map(\.code) }
    }

    @Test func `a place in a city has its names, country and time zone, and no street`() throws {
        let requests = Requests(try Self.geocoding.get())
        requests.reverse(48.2082, 16.3738)
        #expect(requests.geocoder.isGeocoding && requests.outcomes.isEmpty)
        requests.advance(1)
        let placemark = try #require(requests.outcomes.first?.placemarks.first)
        #expect(!requests.geocoder.isGeocoding)
        #expect(placemark.locality == "Vienna" && placemark.isoCountryCode == "AT")
        #expect(placemark.timeZone == TimeZone(identifier: "Europe/Vienna") && placemark.ocean == nil)
        #expect(placemark.thoroughfare == nil && placemark.postalCode == nil)
        #expect(!"\(placemark)".contains("Vienna"))
    }

    @Test func `G1 given a request under way, when a second one comes, then it fails and the first succeeds`() throws {
        let requests = Requests(try Self.geocoding.get())
        requests.reverse(48.2082, 16.3738)
        requests.reverse(52.52, 13.405)
        requests.advance(1)
        #expect(requests.codes == [10, nil])
        #expect(requests.outcomes[1].placemarks.first?.locality == "Vienna")
    }

    @Test func `G1 given a request under way, when it is cancelled, then it fails as cancelled, once`() throws {
        let requests = Requests(try Self.geocoding.get())
        requests.reverse(48.2082, 16.3738)
        requests.geocoder.cancelGeocode()
        requests.advance(1)
        requests.geocoder.cancelGeocode()
        #expect(requests.codes == [10] && !requests.geocoder.isGeocoding)
    }

    @Test func `G2 given 51 requests in a minute, then the last one fails as without a network`() throws {
        let requests = Requests(try Self.geocoding.get())
        for _ in 1...51 {
            requests.reverse(48.2082, 16.3738)
            requests.advance(1)
        }
        #expect(requests.codes.prefix(50).allSatisfy { $0 == nil } && requests.codes.last == 2)
        requests.advance(60)
        requests.reverse(48.2082, 16.3738)
        requests.advance(1)
        #expect(requests.codes.count == 52 && requests.codes[51] == nil)
    }

    @Test func `G3 given the middle of an ocean, then it is named and no locality is`() throws {
        let requests = Requests(try Self.geocoding.get())
        requests.reverse(-30, -15)
        requests.advance(1)
        let placemark = try #require(requests.outcomes.first?.placemarks.first)
        #expect(placemark.ocean?.contains("Atlantic") == true && placemark.locality == nil && placemark.country == nil)
    }

    @Test func `a name is found in any language, near ones first, and a part of one is no result`() throws {
        let requests = Requests(try Self.geocoding.get())
        var found: [[CLPlacemark]] = []
        var codes: [Int?] = []
        func ask(_ text: String, in region: CLRegion? = nil) {
            requests.geocoder.geocodeAddressString(text, in: region) {
                found.append($0 ?? [])
                codes.append($1.map(code))
            }
            requests.advance(1)
        }
        ask("Wien")
        #expect(found[0].first?.isoCountryCode == "AT")
        let vienna = CLLocation(latitude: 48.2082, longitude: 16.3738)
        #expect((found[0].first?.location?.distance(from: vienna) ?? .infinity) < 10_000)
        // Paris is in France unless one asks about Texas.
        let texas = CLLocationCoordinate2D(latitude: 33.66, longitude: -95.55)
        ask("Paris")
        ask("Paris", in: CLCircularRegion(center: texas, radius: 50_000, identifier: "Texas"))
        #expect(found[1].first?.isoCountryCode == "FR" && found[2].first?.isoCountryCode == "US")
        ask("xqzzyvw")
        ask("Viennna")
        #expect(codes == [nil, nil, nil, 8, 9])
    }

    @Test func `no place has no name, and a device without names has no network`() throws {
        let requests = Requests(try Self.geocoding.get())
        requests.reverse(-180, -180)
        requests.advance(1)
        #expect(requests.codes == [8])
        let offline = Requests(nil)
        offline.reverse(48.2082, 16.3738)
        offline.advance(1)
        #expect(offline.codes == [2])
    }

    @Test func `an app awaits an answer, also over a suspension, and never hears after its end`() throws {
        for ends in [false, true] {
            let requests = Requests(try Self.geocoding.get())
            let names = Box<[String?]>([])
            requests.scene.application.run {
                let geocoder = requests.geocoder
                _ = Task {
                    let place = CLLocation(latitude: 48.2082, longitude: 16.3738)
                    names.value.append(try await geocoder.reverseGeocodeLocation(place).first?.locality)
                }
            }
            requests.advance(0)
            requests.scene.application.suspend()
            requests.advance(60)
            #expect(names.value.isEmpty)
            if ends { requests.scene.application.terminateBySystem() }
            requests.scene.application.open()
            requests.advance(1)
            #expect(names.value == (ends ? [] : ["Vienna"]))
        }
    }

    @Test func `a file that is no gazetteer is refused`() {
        #expect(throws: (any Error).self) { try SimulatedGeocoding(gazetteerPath: #filePath) }
    }
}
