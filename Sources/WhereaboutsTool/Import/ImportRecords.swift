import Geodesy
import Whereabouts
import WireFormats

/// One record of an imported file.
struct ImportRecord {
    enum Content {
        /// A fix; `user` is the person the file names.
        case fix(Fix, user: Handle?)
        /// A point without a time cannot enter a history. `nil`: nor is its place one.
        case untimed(Coordinate?)
        case rejected(RejectionReason)
    }

    let line: Int
    let content: Content
}

/// Reads the records of one format from a file's bytes as they come.
protocol ImportRecords: AnyObject {
    /// What the next bytes hold, and what is wrong with the file if it cannot be read on.
    func read(_ bytes: ArraySlice<UInt8>) -> (records: [ImportRecord], fault: String?)
    /// What the end of the file adds.
    func finish() -> (records: [ImportRecord], fault: String?)
    /// What the file holds besides and is not imported, as a sentence; `nil` when nothing.
    var passedOver: String? { get }
}

/// The track points of a GPX file.
final class GPXRecords: ImportRecords {
    private var reader = GPXReader()
    private let system: CoordinateReferenceSystem?
    private let now: Timestamp

    /// - Parameters:
    ///   - system: in which the file's `lon` and `lat` are x and y; `nil` for the degrees of a proper file.
    ///   - now: house time, against which a fix is in the future.
    init(system: CoordinateReferenceSystem?, now: Timestamp) {
        (self.system, self.now) = (system, now)
    }

    func read(_ bytes: ArraySlice<UInt8>) -> (records: [ImportRecord], fault: String?) {
        var fault: String?
        do throws(GPXError) { try reader.feed(bytes) } catch { fault = error.description }
        return (reader.takePoints().map(record), fault)
    }

    func finish() -> (records: [ImportRecord], fault: String?) {
        var fault: String?
        do throws(GPXError) { try reader.finish() } catch { fault = error.description }
        return (reader.takePoints().map(record), fault)
    }

    var passedOver: String? {
        let counts = reader.counts
        let parts = [(counts.waypoints, "way points"), (counts.routePoints, "route points")].filter { $0.0 > 0 }
        guard !parts.isEmpty else { return nil }
        return parts.map { "\(Text.count($0.0)) \($0.1)" }.joined(separator: " and ")
            + " were skipped: they are places and plans, not fixes."
    }

    private func record(_ point: GPXPoint) -> ImportRecord {
        ImportRecord(line: point.line, content: content(of: point))
    }

    private func content(of point: GPXPoint) -> ImportRecord.Content {
        guard let system else {
            guard let report = point.report(now: now) else {
                return .untimed(try? Coordinate(latitude: point.latitude, longitude: point.longitude))
            }
            return .init(report, user: nil)
        }
        do throws(GeodesyError) {
            let place = try system.toWGS84(point.longitude, point.latitude)
            guard let report = point.report(latitude: place.latitude, longitude: place.longitude, now: now) else {
                return .untimed(place)
            }
            return .init(report, user: nil)
        } catch { return point.time == .missing ? .untimed(nil) : .rejected(.badCoordinate) }
    }
}

/// JSON lines, each a fix.
final class LineRecords: ImportRecords {
    private var lines: FixLines

    init(now: Timestamp) {
        lines = FixLines(now: now)
    }

    func read(_ bytes: ArraySlice<UInt8>) -> (records: [ImportRecord], fault: String?) {
        (lines.feed(bytes).map(record), nil)
    }

    func finish() -> (records: [ImportRecord], fault: String?) {
        (lines.finish().map(record), nil)
    }

    var passedOver: String? { nil }

    private func record(_ item: FixLines.Item) -> ImportRecord {
        ImportRecord(line: item.lineNumber, content: .init(item.report, user: item.user))
    }
}

extension ImportRecord.Content {
    init(_ report: Report, user: Handle?) {
        self =
            switch report {
            case .fix(let fix, _): .fix(fix, user: user)
            case .rejected(let reason, _): .rejected(reason)
            case .authorization, .sighting, .waypoint, .message: .rejected(.unknownType)
            }
    }
}
