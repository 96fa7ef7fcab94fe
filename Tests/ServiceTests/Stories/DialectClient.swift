import Glibc
import JSON
import Testing
import Whereabouts

@testable import Service

/// A client with a queue, as the apps have one. It defines the messages and their form, the number in one request, and
/// the answers after which sent messages are forgotten (OwnTracks' `Connection.m` and `HttpMessageProcessorEndpoint`,
/// Overland's `GLManager.m`, Traccar's client).
enum DialectClient: String, CaseIterable {
    case ownTracksIOS, ownTracksAndroid, overland, osmAnd, osmAndForm, traccarJSON

    /// The messages of a client, each at a different second.
    enum Message: Equatable {
        case fix(Int)
        /// An entry to a region, as the device saw it.
        case crossing(Int)
        case visit(Int)
        /// A region drawn in the app.
        case region(Int)
        /// Something that only the client has words for.
        case words(Int)
        /// Nothing that can ever be stored as any of these.
        case hopeless(Int)

        var second: Int {
            switch self {
            case .fix(let second), .crossing(let second), .visit(let second), .region(let second),
                .words(let second), .hopeless(let second):
                second
            }
        }
    }

    /// Messages in one request at the most.
    var batch: Int { self == .overland ? 7 : 1 }

    /// The message with a number: mostly fixes, sometimes another kind of the client's messages.
    func message(_ index: Int) -> Message {
        let second = 1_777_800_000 + index * 10
        switch (index % 29, self) {
        case (11, _): return .hopeless(second)
        case (3, .ownTracksIOS), (3, .ownTracksAndroid): return .crossing(second)
        case (7, .ownTracksIOS), (7, .ownTracksAndroid): return .region(second)
        case (5, .overland), (6, .overland), (22, .overland): return .visit(second)
        case (17, _), (18, .overland): return .words(second)
        default: return .fix(second)
        }
    }

    /// Whether the client forgets the sent messages after this answer.
    func forgets(_ answer: Answer) -> Bool {
        switch self {
        // The app drops a message that the service calls wrong.
        case .ownTracksIOS: (200..<500).contains(answer.status)
        case .ownTracksAndroid, .osmAnd, .osmAndForm, .traccarJSON: (200..<300).contains(answer.status)
        case .overland: (200..<300).contains(answer.status) && answer.text == #"{"result":"ok"}"#
        }
    }

    /// - Parameter newest: the newest fix, while more waits than fits into one request.
    func send(_ batch: ArraySlice<Message>, newest: Message?, _ key: String, to house: ServiceUnderTest) -> Answer {
        guard let message = batch.first else { preconditionFailure("There is something to send.") }
        switch self {
        case .ownTracksIOS, .ownTracksAndroid:
            return house.send("POST", "/owntracks", as: key, Self.ownTracks(message))
        case .overland:
            let features = batch.map(Self.feature).joined(separator: ",")
            let current = newest.map { #","current":\#(Self.feature($0))"# } ?? ""
            return house.send("POST", "/overland", as: key, #"{"locations":[\#(features)]\#(current)}"#)
        case .osmAnd: return house.send("GET", "/osmand?id=\(key)&\(Self.parameters(message))", as: nil)
        case .osmAndForm:
            // The HTTP server parses the form; without a socket, the test puts it into the query.
            return house.send("POST", "/osmand?deviceid=\(key)&\(Self.parameters(message))", as: nil)
        case .traccarJSON:
            return house.send(
                "POST", "/osmand", as: nil, #"{"device_id":"\#(key)","location":\#(Self.location(message))}"#,
                headers: [("Content-Type", "application/json")])
        }
    }

    private static func ownTracks(_ message: Message) -> String {
        let time = message.second
        return switch message {
        case .fix: #"{"_type":"location","lat":46,"lon":9.25,"tst":\#(time),"tid":"ab","t":"u"}"#
        case .crossing, .visit: #"{"_type":"transition","event":"enter","tst":\#(time),"wtst":1,"acc":3,"desc":"home"}"#
        case .region: #"{"_type":"waypoint","desc":"spot","tst":\#(time),"lat":46,"lon":9.25,"rad":100}"#
        case .words: #"{"_type":"steps","tst":\#(time),"steps":7}"#
        case .hopeless: #"{"_type":"location","lat":\#(time),"lon":9.25,"tst":\#(time)}"#
        }
    }

    private static func feature(_ message: Message) -> String {
        let what =
            switch message {
            case .visit: #","action":"visit","arrival_date":null,"departure_date":"\#(text(message.second))""#
            case .words(let second): #","type":"trip","mode":"walk","distance":\#(second)"#
            default: ""
            }
        let latitude = if case .hopeless(let second) = message { second } else { 46 }
        return """
            {"type":"Feature","geometry":{"type":"Point","coordinates":[9.25,\(latitude)]},"properties":\
            {"timestamp":"\(text(message.second))","horizontal_accuracy":5\(what)}}
            """
    }

    private static func parameters(_ message: Message) -> String {
        switch message {
        case .hopeless(let second): "lat=\(second)&lon=9.25&timestamp=\(second)"
        case .words(let second): "batt=50&timestamp=\(second)"
        default: "lat=46&lon=9.25&timestamp=\(message.second)"
        }
    }

    private static func location(_ message: Message) -> String {
        let time = text(message.second)
        return switch message {
        case .words(let second): #"{"timestamp":"\#(time)","event":"heartbeat","odometer":\#(second)}"#
        case .hopeless(let second): #"{"timestamp":"\#(time)","coords":{"latitude":\#(second),"longitude":9.25}}"#
        default: #"{"timestamp":"\#(time)","coords":{"latitude":46,"longitude":9.25,"speed":-1}}"#
        }
    }

    /// ISO 8601 by the C library.
    private static func text(_ seconds: Int) -> String {
        var (time, parts, text) = (time_t(seconds), tm(), [CChar](repeating: 0, count: 32))
        gmtime_r(&time, &parts)
        strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
