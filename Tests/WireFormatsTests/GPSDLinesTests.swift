import Geodesy
import Testing
import Whereabouts

@testable import WireFormats

@Suite struct GPSDLinesTests {
    /// The lines of gpsd 3.22 for one epoch, in the received pieces.
    static let said = """
        {"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}
        {"class":"TPV","device":"/dev/pts/3","mode":3,"epv":29.900,"eph":17.100,"sep":30.400}
        {"class":"TPV","device":"/dev/pts/3","mode":3,"time":"2026-11-20T12:00:46.000Z","ept":0.005,"lat":48.204600000,"lon":16.352300000,"epv":29.900,"track":18.5000,"magtrack":22.9611,"magvar":4.5,"speed":0.998,"geoidSep":43.852,"eph":17.100,"sep":30.400}
        {"class":"TPV","device":"/dev/pts/3","mode":3,"time":"2026-11-20T12:00:46.000Z","ept":0.005,"lat":48.204600000,"lon":16.352300000,"altHAE":214.5000,"altMSL":171.3000,"alt":171.3000,"epv":29.900,"track":18.5000,"speed":0.998,"eph":17.100,"sep":30.400}
        {"class":"SKY","device":"/dev/pts/3","xdop":0.5}
        {"class":"TPV","device":"/dev/pts/3","mode":3,"time":"2026-11-20T12:00:47.000Z","lat":48.204700000,"lon":16.352350000,"eph":17.100}

        """

    @Test func `the pieces of an epoch are one fix, and what is not said is not known`() throws {
        var lines = GPSDLines()
        let complete = lines.feed(Array(Self.said.utf8))
        #expect(complete.count == 1)
        let fix = try #require(complete.first)
        // 2026-11-20T12:00:46Z by `date -u -d … +%s`.
        #expect(fix.timestamp == Timestamp(milliseconds: 1_795_176_046_000))
        #expect(fix.coordinate.latitude == 48.2046 && fix.coordinate.longitude == 16.3523)
        #expect(fix.altitude == 171.3 && fix.ellipsoidalAltitude == 214.5 && fix.verticalAccuracy == 29.9)
        #expect(fix.horizontalAccuracy == 17.1 && fix.speed == 0.998 && fix.course == 18.5)
        #expect(fix.courseAccuracy == nil && fix.speedAccuracy == nil)
        #expect(fix.isSimulatedBySoftware == true && fix.isProducedByAccessory == false)
        let pending = lines.flush()
        let last = try #require(pending)
        #expect(last.timestamp.milliseconds == 1_795_176_047_000 && last.speed == nil && last.altitude == nil)
        let nothing = lines.flush()
        #expect(nothing == nil)
    }

    @Test(arguments: [
        #"{"class":"TPV","mode":1,"time":"2026-11-20T12:00:46.000Z","lat":48,"lon":16}"#,
        #"{"class":"TPV","mode":3,"lat":48,"lon":16}"#, #"{"class":"TPV","mode":3,"time":"2026-11-20T12:00:46.000Z"}"#,
        #"{"class":"TPV","mode":3,"time":"2026-11-20T12:00:46.000Z","lat":148,"lon":16}"#, "nonsense", "",
    ])
    func `without a fix, a time and a place there is nothing`(line: String) {
        var lines = GPSDLines()
        let complete = lines.feed(Array((line + "\n").utf8))
        let pending = lines.flush()
        #expect(complete.isEmpty && pending == nil)
    }

    @Test func `numbers that no receiver means are not known`() throws {
        var lines = GPSDLines()
        let complete = lines.feed(
            Array(
                """
                {"class":"TPV","mode":3,"time":"2026-11-20T12:00:46.000Z","lat":48,"lon":16,"track":400,"speed":-0.0,"epx":1e200,"epy":1e200,"epd":-0.0,"eps":-1,"altMSL":-0.0}

                """.utf8))
        let fix = try #require((complete + [lines.flush()].compactMap { $0 }).first)
        #expect(fix.course == nil && fix.horizontalAccuracy == nil && fix.speedAccuracy == nil)
        #expect(fix.speed?.sign == .plus && fix.courseAccuracy?.sign == .plus && fix.altitude?.sign == .plus)
    }

    @Test func `a receiver on a serial line is an accessory`() throws {
        var lines = GPSDLines()
        _ = lines.feed(
            Array(
                #"{"class":"TPV","device":"/dev/ttyACM0","mode":2,"time":"2026-11-20T12:00:46Z","lat":48,"lon":16}"#
                    .utf8) + [0x0A])
        let pending = lines.flush()
        let fix = try #require(pending)
        #expect(fix.isSimulatedBySoftware == false && fix.isProducedByAccessory == true)
        #expect(fix.horizontalAccuracy == nil)
    }
}
