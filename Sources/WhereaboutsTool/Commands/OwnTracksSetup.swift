import Cryptography
import JSON

/// What sets an OwnTracks app up in one step: its configuration in a link that the app opens, and that a QR code can hold
/// (booklet, `features/remoteconfig` and `tech/json`).
struct OwnTracksSetup {
    let url: String
    let user: String
    let password: String
    let person: String

    /// The configuration, as in a file `.otrc`. Mode 3 is HTTP; remote commands are on, so that the app can answer when it is
    /// told to report (`cmd` on both systems, `allowRemoteLocation` besides on iOS).
    private var configuration: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("_type", "configuration")
        writer.field("mode", 3)
        writer.field("url", url)
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

    /// Base 64 in the alphabet both apps read, with what has a meaning in a query escaped.
    var link: String {
        var text = ""
        for character in Base64.encode(configuration) {
            switch character {
            case "+": text += "%2B"
            case "/": text += "%2F"
            case "=": text += "%3D"
            default: text.append(character)
            }
        }
        return "owntracks:///config?inline=" + text
    }
}
