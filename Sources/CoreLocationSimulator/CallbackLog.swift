internal import Whereabouts

/// The simulated system's acts and its callbacks to the apps, one line each, in order. The same track, profile, script
/// and seed give the same bytes.
///
/// A line has the seconds since 1970 with three decimals, the actor (`device`, a bundle identifier, or a bundle
/// identifier with the numbers of the launch and the manager) and the act:
///
///     1767225600.000 org.example.app/1.1 locationManagerDidChangeAuthorization 3 0
///     1767225605.000 org.example.app/1.1 didUpdateLocations 46.5 9.25 5.0 @1767225605.000
///
/// It contains coordinates, because tests compare it; diagnostics contain none.
public struct CallbackLog: Sendable, Equatable {
    public private(set) var lines: [String] = []

    /// All lines, each ended by a line feed.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    /// The lines that contain `text`.
    public func lines(containing text: String) -> [String] { lines.filter { $0.contains(text) } }

    mutating func append(_ moment: Timestamp, _ who: String, _ what: String) {
        lines.append("\(moment.logText) \(who) \(what)")
    }
}

extension Timestamp {
    /// Seconds with three decimals, by integers, because a binary fraction has no exact thousandths.
    var logText: String {
        let (whole, rest) = abs(milliseconds).quotientAndRemainder(dividingBy: 1000)
        let fraction = String(rest + 1000).dropFirst()
        return "\(milliseconds < 0 ? "-" : "")\(whole).\(fraction)"
    }
}

extension CLLocation {
    var logText: String {
        let time = Timestamp(seconds: timestamp.timeIntervalSince1970)?.logText ?? "never"
        return "\(coordinate.latitude) \(coordinate.longitude) \(horizontalAccuracy) @\(time)"
    }
}
