import Geodesy
import Testing
import Whereabouts

@testable import Service

/// Requests of real apps that deviate from their protocol: each was once answered with success, or refused every time,
/// and the fix was lost.
@Suite struct DialectLossTests {
    private let house: ServiceUnderTest
    private let key: String

    init() throws {
        house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        key = try house.addDevice("phone", of: "walker")
    }

    private func fixes() throws -> [Fix] {
        try house.events().compactMap { if case .fixReported(_, _, .open(let fix)) = $0.event { fix } else { nil } }
    }

    /// Overland-iOS, `GLManager.m`, `setupHTTPClient`: in its OwnTracks mode the header is `Basic`, the access token
    /// and a colon, without base64.
    @Test(arguments: ["/overland", "/owntracks"])
    func `Overland's OwnTracks mode sends its token in clear as if it were base64`(path: String) throws {
        let body =
            #"{"_type":"location","lat":46.5,"lon":9.25,"tst":1777881000,"acc":5,"batt":80,"topic":"owntracks/a/b"}"#
        let headers = [("Authorization", "Basic \(key):"), ("Content-Type", "application/json")]
        #expect(house.send("POST", path, as: nil, body, headers: headers).status == 200)
        #expect(try fixes().map(\.coordinate.latitude) == [46.5])
        // A wrong token stays wrong.
        let wrong = [("Authorization", "Basic \(key.dropLast()):")]
        #expect(house.send("POST", path, as: nil, body, headers: wrong).status == 401)
    }

    /// GPSLogger, `CustomUrlManager.java`, with the templates of its users.
    @Test(arguments: [
        (
            #"{"_type":"location","lat":"46.5","lon":"9.25","tst":"1777881000","acc":"4.5","vel":"3.5"}"#,
            "application/json"
        ),
        ("_type=location&lat=46.5&lon=9.25&tst=1777881000&acc=4.5&vel=3.5", "application/x-www-form-urlencoded"),
        // The app has one type for all bodies if no header is set.
        (
            #"{"_type":"location","lat":"46.5","lon":"9.25","tst":"1777881000","acc":"4.5","vel":"3.5"}"#,
            "application/x-www-form-urlencoded"
        ),
    ])
    func `a template's message is a fix`(body: String, type: String) throws {
        let answer = house.send("POST", "/owntracks", as: key, body, headers: [("Content-Type", type)])
        #expect(answer.status == 200)
        let fix = try #require(try fixes().first)
        #expect(fix.coordinate.latitude == 46.5 && fix.horizontalAccuracy == 4.5 && fix.speed == 3.5)
    }

    /// traccar-client-sdk, `HttpUploader.kt`.
    @Test func `an array of Traccar's SDK is taken whole, or not at all`() throws {
        let body = """
            [{"id":"\(key)","lat":46.5,"lon":9.25,"timestamp":1777881000,"accuracy":4.5,"speed":10,"batt":87},
             {"id":"\(key)","lat":46.6,"lon":9.25,"timestamp":1777881010,"accuracy":4.5,"speed":10,"batt":87}]
            """
        let headers = [("Content-Type", "application/json")]
        #expect(house.send("POST", "/osmand", as: nil, body, headers: headers).status == 200)
        #expect(try fixes().map(\.coordinate.latitude) == [46.5, 46.6])
        let wrong = house.send("POST", "/osmand", as: nil, body.replacing(key, with: "nobody"), headers: headers)
        #expect(wrong.status == 404)
        #expect(try fixes().count == 2)
    }

    /// OsmAnd, `LiveSender.java`.
    @Test func `OsmAnd's own template`() throws {
        let query = "id=\(key)&lat=46.5&lon=9.25&timestamp=1777881000123&hdop=12.5&altitude=410.0&speed=10.0"
        #expect(house.send("GET", "/osmand?\(query)", as: nil).status == 200)
        let fix = try #require(try fixes().first)
        #expect(fix.horizontalAccuracy == 12.5 && fix.speed == 10)
    }
}
