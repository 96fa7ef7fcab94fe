import Geodesy
package import JSON
package import Whereabouts

/// The answer to one message of an OwnTracks app: a JSON array of messages, in HTTP mode the app's only way to see its
/// friends and to be told something (booklet, `tech/http`). An app that cannot parse its answer ignores it; one that gets
/// a 4xx throws its own message away (iOS) or sends it for ever (Android).
package struct OwnTracksAnswer {
    package struct Friend {
        package let handle: Handle
        /// As much of it as the friend shows.
        package let fix: Fix

        package init(handle: Handle, fix: Fix) { (self.handle, self.fix) = (handle, fix) }
    }

    package let friends: [Friend]
    /// Whether the app is to report where it is, at once.
    package let isToReport: Bool
    /// What the app requested, by its own words: `tour`, `tours`.
    package let requests: [String]

    package init(friends: [Friend], isToReport: Bool, requests: [String]) {
        (self.friends, self.isToReport, self.requests) = (friends, isToReport, requests)
    }

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

    /// The message that tells an app to say where it is.
    package static let reportLocation = Array(#"{"_type":"cmd","action":"reportLocation"}"#.utf8)

    private func message(_ type: String, into writer: inout JSONWriter, _ members: (inout JSONWriter) -> Void) {
        writer.beginObject()
        writer.field("_type", type)
        members(&writer)
        writer.endObject()
    }

    /// In the apps' units, whole numbers throughout: that is what they read. A `tst` is a must, or the Android app never
    /// moves the friend.
    ///
    /// - Parameter isWanted: which members are written.
    package static func writeMembers(
        of fix: Fix, where isWanted: (String) -> Bool = { _ in true }, into writer: inout JSONWriter
    ) {
        func whole(_ name: String, _ number: Double?) {
            if isWanted(name) { writer.field(name, number.flatMap { Int64(exactly: $0.rounded()) }) }
        }
        if isWanted("lat") { writer.field("lat", fix.coordinate.latitude) }
        if isWanted("lon") { writer.field("lon", fix.coordinate.longitude) }
        if isWanted("tst") { writer.field("tst", fix.timestamp.milliseconds / 1000) }
        whole("acc", fix.horizontalAccuracy)
        whole("alt", fix.altitude)
        whole("vac", fix.verticalAccuracy)
        whole("vel", fix.speed.map { $0 * 3.6 })
        whole("cog", fix.course)
    }

    /// There are no tours here: the list of them is empty, and none is made (501, as HTTP has it).
    private static func refuse(_ request: String, into writer: inout JSONWriter) {
        writer.field("action", "response")
        writer.field("request", request)
        writer.field("status", request == "tours" ? 200 : 501)
        if request == "tours" {
            writer.field("ntours", 0)
            writer.array("tours") { _ in }
        }
    }

    /// Two letters for each friend, by which the apps tell them apart: the first two of the name, or with a figure where an
    /// earlier friend has them.
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
