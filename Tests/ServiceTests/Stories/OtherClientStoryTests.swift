import Geodesy
import JSON
import Log
import Testing
import Whereabouts

@testable import Service

/// Apps of other servers send the requests of their sources, and get the answers after which they forget a fix.
@Suite struct OtherClientStoryTests {
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

    private static let form = [("Content-Type", "application/x-www-form-urlencoded")]
    private static let json = [("Content-Type", "application/json")]

    private func expect(_ fix: Fix?, battery: Double? = 0.87) {
        #expect(fix?.coordinate.latitude == 46.5 && fix?.coordinate.longitude == 9.25)
        #expect(fix?.timestamp.milliseconds == 1_777_881_000_000)
        #expect(fix?.horizontalAccuracy == 4.5 && fix?.altitude == 410 && fix?.speed == 3.5 && fix?.course == 90)
        #expect(fix?.batteryLevel == battery)
    }

    /// phonetrack-android, `WebTrackHelper.java`; the server's `LogController.php`, `logPost` and `logPostMultiple`.
    @Test func `PhoneTrack's app posts one and many`() throws {
        let path = "/index.php/apps/phonetrack"
        let one =
            "lat=46.5&lon=9.25&timestamp=1777881000&alt=410.0&acc=4.5&bat=87&sat=7&useragent=PhoneTrack%2F0.9"
            + "&speed=3.5&bearing=90.0"
        let posted = house.send("POST", "\(path)/logPost/\(key)/my%20phone", as: nil, one, headers: Self.form)
        #expect(posted.status == 200 && posted["done"]?.int == 1)
        expect(try fixes().first)
        let points = """
            {"points":[[46.5,9.25,1777881000,410.0,4.5,87,7,"PhoneTrack","3.5",90.0],
            [46.6,9.25,1777881010,null,4.5,-1,7,"PhoneTrack","",""],[147,9.25,1777881020]]}
            """
        let many = house.send("POST", "\(path)/logPostMultiple/\(key)/phone", as: nil, points, headers: Self.json)
        #expect(many["done"]?.int == 1)
        let fixes = try fixes()
        #expect(fixes.map(\.coordinate.latitude) == [46.5, 46.6])
        #expect(fixes.last?.altitude == nil && fixes.last?.batteryLevel == nil && fixes.last?.speed == nil)
        let got = house.send("GET", "\(path)/logGet/\(key)/phone?lat=46.7&lon=9.25&timestamp=1777881030", as: nil)
        #expect(got["done"]?.int == 1)
        // The app keeps the sent fixes after any answer except 200.
        #expect(house.send("POST", "\(path)/logPost/nobody/phone", as: nil, one, headers: Self.form).status == 401)
        let rejected = try house.events().compactMap { recorded -> RejectedInput? in
            if case .inputRejected(_, _, _, .open(let input)) = recorded.event { input } else { nil }
        }
        #expect(rejected.map { String(decoding: $0.head, as: UTF8.self) } == ["[147,9.25,1777881020]"])
    }

    /// ulogger-android, `WebHelper.java`: `auth` sets a cookie, with which tracks begin and positions come.
    @Test func `µlogger's app signs in, begins a track and adds positions`() throws {
        let path = "/ulogger/client/index.php"
        func post(_ body: String, cookie: String? = nil, _ headers: [(String, String)] = Self.form) -> Answer {
            house.send("POST", path, as: nil, body, headers: headers + (cookie.map { [("Cookie", $0)] } ?? []))
        }
        let position =
            "action=addpos&trackid=7&time=1777881000&lat=46.5&lon=9.25&altitude=410.0&speed=3.5&bearing=90.0"
            + "&accuracy=4.5&provider=gps&battery=87"
        // After a 401, the app signs in and sends again.
        #expect(post(position).status == 401)
        #expect(post("action=auth&user=phone&pass=wrong").status == 401)
        #expect(post("action=auth&user=other&pass=\(key)").status == 401)
        let signedIn = post("action=auth&user=phone&pass=\(key)")
        #expect(signedIn["error"]?.bool == false)
        let set = try #require(signedIn.header("Set-Cookie"))
        #expect(set.contains("HttpOnly") && set.contains("SameSite=Strict") && set.contains("Path=/ulogger/"))
        let cookie = try String(#require(set.split(separator: ";").first))
        let track = post("action=addtrack&track=Auto_2026", cookie: cookie)
        #expect(track["error"]?.bool == false && (1...Int64(Int32.max)).contains(track["trackid"]?.int ?? 0))
        #expect(post(position, cookie: cookie)["error"]?.bool == false)
        expect(try fixes().first)
        #expect(try fixes().first?.remainder == #"{"trackid":"7","provider":"gps"}"#)
        // With an image the position comes in parts, the texts first (`getMultipartTextPart`).
        let boundary = "----uLoggerBoundaryAbC"
        let parts = ["action": "addpos", "trackid": "7", "time": "1777881010", "lat": "46.6", "lon": "9.25"].map {
            "\r\n--\(boundary)\r\nContent-Disposition: form-data; name=\"\($0)\"\r\n\r\n\($1)"
        }.joined()
        let image =
            "\r\n--\(boundary)\r\nContent-Disposition: form-data; name=\"image\"; filename=\"upload\"\r\n"
            + "Content-Type: image/jpeg\r\nContent-Transfer-Encoding: binary\r\n\r\n\u{7F}JFIF\r\n--\(boundary)--\r\n"
        let type = [("Content-Type", "multipart/form-data; boundary=\(boundary)")]
        #expect(post(parts + image, cookie: cookie, type)["error"]?.bool == false)
        #expect(try fixes().map(\.coordinate.latitude) == [46.5, 46.6])
        #expect(post("action=adduser&login=x", cookie: cookie)["error"]?.bool == true)
        // Neither key nor password is kept anywhere.
        let told = try house.events().map { "\($0.event)" }.joined()
        #expect(!told.contains(key))
        // The app's look whether anything is there, `isReachable`, wants anything below 500.
        #expect(house.send("HEAD", path, as: nil).status == 405)
    }

    /// home-assistant/core, `mobile_app/webhook.py` and the form of its `gpslogger`; OwnTracks as its `owntracks` takes
    /// it.
    @Test func `a webhook takes what Home Assistant's takes`() throws {
        let path = "/api/webhook/\(key)"
        let companion = #"""
            {"type":"update_location","data":{"gps":[46.5,9.25],"gps_accuracy":4.5,"battery":87,"speed":3.5,"altitude":410,
            "course":90,"vertical_accuracy":3,"location_name":null}}
            """#
        #expect(house.send("POST", path, as: nil, companion, headers: Self.json).status == 200)
        let fix = try #require(try fixes().first)
        #expect(fix.coordinate.latitude == 46.5 && fix.horizontalAccuracy == 4.5 && fix.speed == 3.5)
        #expect(fix.verticalAccuracy == 3 && fix.course == 90 && fix.batteryLevel == 0.87)
        // The app sends no time.
        #expect(fix.timestamp == house.clock.now)
        let before = house.service.log.head
        for other in ["update_sensor_states", "get_zones", "update_registration"] {
            let answer = house.send("POST", path, as: nil, #"{"type":"\#(other)","data":{"a":1}}"#, headers: Self.json)
            #expect(answer.status == 200)
        }
        #expect(house.service.log.head == before)
        let gpsLogger =
            "latitude=46.6&longitude=9.25&device=abc&accuracy=4.5&battery=87.0&speed=3.5&direction=90.0"
            + "&altitude=410.0&provider=gps&activity=walking"
        #expect(house.send("POST", path, as: nil, gpsLogger, headers: Self.form).status == 200)
        let ownTracks = #"{"_type":"location","lat":46.7,"lon":9.25,"tst":1777881000,"acc":4,"tid":"ab"}"#
        #expect(house.send("POST", path, as: nil, ownTracks, headers: Self.json).text == "[]")
        #expect(try fixes().map(\.coordinate.latitude) == [46.5, 46.6, 46.7])
        #expect(house.send("POST", path + "x", as: nil, companion, headers: Self.json).status == 401)
        let encrypted = #"{"type":"encrypted","encrypted":true,"encrypted_data":"AAAA"}"#
        #expect(house.send("POST", path, as: nil, encrypted, headers: Self.json).status == 200)
    }
}
