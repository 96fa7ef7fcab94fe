// The rows and answers of the OwnTracks Recorder's interface, in the words and units of its apps.

/// A location in the units of the OwnTracks apps, all of them whole numbers but the degrees.
package struct OwnTracksPoint: Reply, Hashable {
    package var lat: Double
    package var lon: Double
    /// Unix seconds.
    package var tst: Int64
    /// Meters.
    package var acc: Int64?
    /// Meters.
    package var alt: Int64?
    /// Meters.
    package var vac: Int64?
    /// Kilometers per hour.
    package var vel: Int64?
    /// Degrees clockwise from north.
    package var cog: Int64?

    package init(
        lat: Double, lon: Double, tst: Int64, acc: Int64? = nil, alt: Int64? = nil, vac: Int64? = nil,
        vel: Int64? = nil, cog: Int64? = nil
    ) {
        (self.lat, self.lon, self.tst, self.acc) = (lat, lon, tst, acc)
        (self.alt, self.vac, self.vel, self.cog) = (alt, vac, vel, cog)
    }

    package static var invented: Self { Self(lat: .invented, lon: .invented, tst: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("lat", &lat)
        try members.required("lon", &lon)
        try members.required("tst", .integer, &tst)
        try members.optional("acc", .integer, &acc)
        try members.optional("alt", .integer, &alt)
        try members.optional("vac", .integer, &vac)
        try members.optional("vel", .integer, &vel)
        try members.optional("cog", .integer, &cog)
    }
}

/// A fix with its sender, as the Recorder shows it.
package struct RecorderItem: Reply, Hashable {
    package var type = "location"
    /// Two letters of the person.
    package var tid: String
    package var point: OwnTracksPoint
    /// Percent; only for the person and the operator.
    package var batt: Int64?
    package var username: String
    package var device: String
    package var topic: String
    /// The time in UTC, `2026-05-04T08:00:00Z`.
    package var isotst: String
    /// The same, `2026-05-04 08:00:00`.
    package var disptst: String
    /// The address, where it was looked up.
    package var addr: String?
    /// The country, as ``addr``.
    package var cc: String?

    package init(
        tid: String, point: OwnTracksPoint, batt: Int64? = nil, username: String, device: String, isotst: String,
        disptst: String
    ) {
        (self.tid, self.point, self.batt) = (tid, point, batt)
        (self.username, self.device, self.isotst, self.disptst) = (username, device, isotst, disptst)
        topic = "owntracks/\(username)/\(device)"
    }

    package static var invented: Self {
        Self(
            tid: .invented, point: .invented, username: .invented, device: .invented, isotst: .invented,
            disptst: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("_type", .words(["location"]), &type)
        try members.required("tid", &tid)
        try point.visit(&members)
        try members.optional("batt", &batt)
        try members.required("username", &username)
        try members.required("device", &device)
        try members.required("topic", &topic)
        try members.required("isotst", &isotst)
        try members.required("disptst", &disptst)
        try members.optional("addr", &addr)
        try members.optional("cc", &cc)
    }
}

/// The version, by which clients recognize a Recorder.
package struct RecorderVersion: Reply, Hashable {
    package var version: String

    package init(version: String) { self.version = version }

    package static var invented: Self { Self(version: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("version", &version)
    }
}

/// The persons, or the devices of one.
package struct RecorderList: Reply, Hashable {
    package var results: [String]

    package init(results: [String]) { self.results = results }

    package static var invented: Self { Self(results: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("results", &results)
    }
}
