import Geodesy
package import JSON
package import Replies
package import Whereabouts

/// The answer to one message of an OwnTracks app: a JSON array of messages. In HTTP mode it is the app's only way to
/// see friends and to get commands (booklet, `tech/http`). An app ignores an answer that it cannot parse; after a 4xx
/// the iOS app drops its message, and the Android app repeats it without end.
package struct OwnTracksAnswer {
    /// A friend's location.
    package struct Friend {
        /// The friend's handle.
        package let handle: Handle
        /// The location with the precision that the friend grants.
        package let fix: Fix

        /// - Parameter fix: The location with the precision that the friend grants.
        package init(handle: Handle, fix: Fix) { (self.handle, self.fix) = (handle, fix) }
    }

    /// The friends whose location has changed.
    package let friends: [Friend]
    /// Whether the app is asked to report its location at once.
    package let isToReport: Bool
    /// The subjects of the app's requests, for example `tour` or `tours`.
    package let requests: [String]

    /// - Parameter requests: The subjects of the app's requests, by ``OwnTracks/request(_:)``.
    package init(friends: [Friend], isToReport: Bool, requests: [String]) {
        (self.friends, self.isToReport, self.requests) = (friends, isToReport, requests)
    }

    /// The JSON array.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for (friend, trackerID) in zip(friends, trackerIDs) {
            let topic = "owntracks/\(friend.handle.text)/\(trackerID)"
            message("card", into: &writer) { writer in
                writer.field("tid", trackerID)
                writer.field("name", friend.handle.text)
                writer.field("topic", topic)
            }
            message("location", into: &writer) { writer in
                writer.field("tid", trackerID)
                writer.field("topic", topic)
                Self.writeMembers(of: friend.fix, into: &writer)
            }
        }
        for request in requests { message("cmd", into: &writer) { Self.refuse(request, into: &$0) } }
        if isToReport { writer.raw(Self.reportLocation) }
        writer.endArray()
        return writer.bytes
    }

    /// The command that asks an app to report its location.
    package static let reportLocation = Array(#"{"_type":"cmd","action":"reportLocation"}"#.utf8)

    private func message(_ type: String, into writer: inout JSONWriter, _ members: (inout JSONWriter) -> Void) {
        writer.beginObject()
        writer.field("_type", type)
        members(&writer)
        writer.endObject()
    }

    /// Writes a location into an open object.
    package static func writeMembers(of fix: Fix, into writer: inout JSONWriter) {
        writer.members(of: OwnTracksPoint(fix))
    }

    /// The service has no tours: a list of them is empty, and a request to make one is refused (501, as in HTTP).
    private static func refuse(_ request: String, into writer: inout JSONWriter) {
        writer.field("action", "response")
        writer.field("request", request)
        writer.field("status", request == "tours" ? 200 : 501)
        if request == "tours" {
            writer.field("ntours", 0)
            writer.array("tours") { _ in }
        }
    }

    /// Two letters for each friend, by which the apps label them: the first two of the name, or one letter and a digit
    /// if an earlier friend has the same.
    private var trackerIDs: [String] {
        var taken: Set<String> = []
        return friends.map { friend in
            let letters = Array(friend.handle.text)
            let ends = letters.dropFirst().prefix(1) + Array("0123456789abcdefghijklmnopqrstuvwxyz")
            let id = ends.lazy.map { "\(letters[0])\($0)" }.first { !taken.contains($0) } ?? friend.handle.text
            taken.insert(id)
            return id
        }
    }
}

extension OwnTracksPoint {
    /// The fix in the apps' units, all of them whole numbers, because the apps read those. Without `tst` the Android app
    /// never moves the friend. A number that does not fit is left out.
    package init(_ fix: Fix) {
        func whole(_ number: Double?) -> Int64? { number.flatMap { Int64(exactly: $0.rounded()) } }
        self.init(
            lat: fix.coordinate.latitude, lon: fix.coordinate.longitude, tst: fix.timestamp.milliseconds / 1000,
            acc: whole(fix.horizontalAccuracy), alt: whole(fix.altitude), vac: whole(fix.verticalAccuracy),
            vel: whole(fix.speed.map { $0 * 3.6 }), cog: whole(fix.course))
    }
}
