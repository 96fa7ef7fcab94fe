import Cryptography
import JSON

/// The set-up of each app that can report: a link that the app opens and a QR code can contain, or lines to copy.
///
/// All of them include the reporting key.
struct AppSetup {
    enum App: String, CaseIterable {
        case ownTracks = "owntracks"
        case overland, traccar
        case osmAnd = "osmand"
        case gpsLogger = "gpslogger"
    }

    /// The service's address for apps, without a slash at the end.
    let url: String
    /// The device's handle.
    let user: String
    /// The device's reporting key.
    let password: String
    let person: String

    /// The link that sets up the app, if the app supports one.
    func link(for app: App) -> String? {
        switch app {
        case .ownTracks: ownTracksLink
        // Overland-iOS, `AppDelegate.m`.
        case .overland:
            "overland://setup?url=\(Self.escaped(url + "/overland"))&token=\(Self.escaped(password))"
                + "&device_id=\(Self.escaped(user))"
        // traccar-client, `configuration_service.dart`: the address up to the query is the server's.
        case .traccar: "\(url)/osmand?id=\(Self.escaped(password))"
        case .osmAnd, .gpsLogger: nil
        }
    }

    /// The instructions for the app, in lines.
    func instructions(for app: App) -> String {
        switch app {
        case .ownTracks:
            """
            OwnTracks: first turn on "Allow external configuration" in the app's settings; today's apps have it off. Then open
            this link on the phone, or point its camera at the code. By hand: mode HTTP, URL \(url)/owntracks,
            and the user and password above.
            """
        case .overland: "Overland: open this link on the phone, or point its camera at the code."
        case .traccar: "Traccar Client: scan the code in the app's settings, or open this link on the phone."
        case .osmAnd:
            """
            OsmAnd: Trip recording > Online tracking > Web address:

              \(osmAndAddress)
            """
        case .gpsLogger:
            """
            GPSLogger: Logging details > Log to custom URL, with

              URL           \(url)/owntracks
              HTTP method   POST
              HTTP headers  Content-Type: application/json
              HTTP body     \(Self.gpsLoggerBody)

            and the user and password above under "Basic authentication".
            """
        }
    }

    /// OsmAnd replaces the numbers with its values (`LiveSender.java`). It has no knots.
    var osmAndAddress: String {
        "\(url)/osmand?id=\(Self.escaped(password))&lat={0}&lon={1}&timestamp={2}&accuracy={3}&altitude={4}&speed_mps={5}"
            + "&bearing={6}&batt={11}"
    }

    /// GPSLogger replaces the names with its values (`CustomUrlManager.java`).
    static let gpsLoggerBody =
        #"{"_type":"location","lat":"%LAT","lon":"%LON","tst":"%TIMESTAMP","acc":"%ACC","alt":"%ALT","vel":"%SPD","cog":"%DIR","batt":"%BATT"}"#

    // MARK: OwnTracks

    /// The configuration, as in a file `.otrc`. Mode 3 is HTTP. Remote commands are on, so that the app reports on
    /// request (`cmd` on both systems, and `allowRemoteLocation` on iOS).
    private var configuration: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("_type", "configuration")
        writer.field("mode", 3)
        writer.field("url", url + "/owntracks")
        writer.field("auth", true)
        writer.field("username", user)
        writer.field("password", password)
        writer.field("deviceId", user)
        writer.field("tid", String(person.prefix(2)))
        writer.field("cmd", true)
        writer.field("allowRemoteLocation", true)
        writer.endObject()
        return writer.bytes
    }

    /// Base64 in the alphabet that both apps read (booklet, `features/remoteconfig` and `tech/json`).
    private var ownTracksLink: String { "owntracks:///config?inline=" + Self.escaped(Base64.encode(configuration)) }

    /// A value in a query (RFC 3986, section 3.4): all but unreserved characters are escaped.
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                String(UnicodeScalar(byte))
            default: "%" + Hex.encode([byte]).uppercased()
            }
        }.joined()
    }
}
