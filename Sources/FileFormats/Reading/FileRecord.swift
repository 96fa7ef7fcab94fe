package import Geodesy
package import Whereabouts
import WireFormats

/// One record of a file.
package struct FileRecord: Sendable, DescribedWithoutContent {
    /// The meaning of a record.
    package enum Content: Sendable {
        /// A fix; `user` is the person whom the file names.
        case fix(Fix, user: Handle?)
        /// A visit that another system found.
        case visit(VisitReport, user: Handle? = nil)
        /// A region or a correction, from an archive of this service.
        case setting(ArchivedSetting)
        /// A point without a time, which cannot be part of a history; `nil` if it has no valid place either.
        case untimed(Coordinate?)
        /// A record that cannot be used.
        case rejected(RejectionReason)
    }

    /// The line or the number of the record in its file, from 1; see ``FileFormat/placeWord``.
    package let place: Int
    /// The meaning of the record.
    package let content: Content
    /// The device that the file names; only archives of this service do.
    package internal(set) var device: Handle?

    /// A record at a place.
    package init(place: Int, content: Content) {
        (self.place, self.content) = (place, content)
    }
}

extension FileRecord {
    /// The record of a draft: a fix, a point without a time, or a rejection.
    init(_ draft: FixDraft, place: Int, now: Timestamp) {
        guard draft.time != .missing else {
            let (latitude, longitude) = (draft.latitude ?? .nan, draft.longitude ?? .nan)
            self.init(place: place, content: .untimed(try? Coordinate(latitude: latitude, longitude: longitude)))
            return
        }
        self.init(draft.report(now: now), place: place)
    }

    /// The record of a report. A report that is neither a fix nor a visit has an unknown type.
    init(_ report: Report, place: Int, user: Handle? = nil) {
        let content: Content =
            switch report {
            case .fix(let fix, _): .fix(fix, user: user)
            case .sighting(.visit(let visit)): .visit(visit, user: user)
            case .rejected(let reason, _): .rejected(reason)
            case .sighting, .authorization, .waypoint, .message: .rejected(.unknownType)
            }
        self.init(place: place, content: content)
    }
}

/// A visit of another system while it is read.
struct VisitDraft {
    var latitude: Double?
    var longitude: Double?
    var horizontalAccuracy: Double?
    var arrival = ReportedTime.missing
    var departure = ReportedTime.missing

    /// The visit, or the reason to reject it. A visit needs a place and an arrival; one without a departure goes on.
    func content(now: Timestamp) -> FileRecord.Content {
        guard let latitude, let longitude, arrival != .missing else { return .rejected(.missingField) }
        guard
            let coordinate = try? Coordinate(
                latitude: latitude == 0 ? 0 : latitude, longitude: longitude == 0 ? 0 : longitude)
        else { return .rejected(.badCoordinate) }
        var times: [Timestamp?] = []
        for time in [arrival, departure] {
            switch time {
            case .missing: times.append(nil)
            case .unreadable: return .rejected(.badTimestamp)
            case .at(let time):
                guard time >= Limits.oldestFix else { return .rejected(.badTimestamp) }
                guard time <= now.adding(seconds: Limits.futureRejectedSeconds) else {
                    return .rejected(.inTheFuture)
                }
                times.append(time)
            }
        }
        guard let arrival = times[0] else { return .rejected(.missingField) }
        if let departure = times[1], departure < arrival { return .rejected(.badTimestamp) }
        return .visit(
            VisitReport(
                timestamp: times[1] ?? arrival, coordinate: coordinate,
                horizontalAccuracy: horizontalAccuracy.flatMap { $0.isFinite ? Sentinel.nonNegative($0) : nil },
                arrival: arrival, departure: times[1]))
    }
}

/// An accuracy that the file does not state.
enum AssumedAccuracy {
    /// Points of Google's paths and the ends of its activities have no accuracy. Our choice; most are by Wi-Fi.
    static let pathMeters = 100.0
    /// The remainder of a fix with an assumed accuracy.
    static let mark = #"{"accuracyAssumed":true}"#
}

/// A person's region or correction in an archive.
package struct ArchivedSetting: Sendable, DescribedWithoutContent {
    /// What it is.
    package enum Kind: Sendable {
        case region, correction
    }

    /// What it is.
    package let kind: Kind
    /// The person.
    package let user: Handle
    /// The body of the request that makes it, one JSON object.
    package let request: [UInt8]
}
