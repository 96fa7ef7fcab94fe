import Geodesy
import Whereabouts
import WireFormats

/// One record of an imported file.
struct ImportRecord {
    enum Content {
        /// A fix; `user` is the person whom the file names.
        case fix(Fix, user: Handle?)
        /// A point without a time, which cannot be part of a history; `nil` if it has no valid place either.
        case untimed(Coordinate?)
        case rejected(RejectionReason)
    }

    let line: Int
    let content: Content
}

/// Reads the records of one format from a file's bytes, piece by piece.
protocol ImportRecords: AnyObject {
    /// The records that are complete with the next bytes, and the fault if the file cannot be read further.
    func read(_ bytes: ArraySlice<UInt8>) -> (records: [ImportRecord], fault: String?)
    /// The records that end with the file.
    func finish() -> (records: [ImportRecord], fault: String?)
    /// A sentence about content that is not imported; `nil` if there is none.
    var passedOver: String? { get }
    /// The operations that converted the file's coordinates to WGS 84; `nil` if the file's coordinates are WGS 84.
    var operations: CoordinateReferenceSystem.UsedOperations? { get }
}

extension ImportRecords {
    var operations: CoordinateReferenceSystem.UsedOperations? { nil }
}

/// The track points of a GPX file.
final class GPXRecords: ImportRecords {
    private var reader = GPXReader()
    private let system: CoordinateReferenceSystem?
    private(set) var operations: CoordinateReferenceSystem.UsedOperations?
    private let now: Timestamp

    /// - Parameters:
    ///   - system: The reference system of the file's `lon` and `lat` as x and y; `nil` for degrees.
    ///   - now: The time of the house, to find fixes in the future.
    init(system: CoordinateReferenceSystem?, now: Timestamp) {
        (self.system, self.now) = (system, now)
        operations = system.map { _ in .init() }
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
            operations?.insert(try system.operation(at: place))
            guard let report = point.report(latitude: place.latitude, longitude: place.longitude, now: now) else {
                return .untimed(place)
            }
            return .init(report, user: nil)
        } catch { return point.time == .missing ? .untimed(nil) : .rejected(.badCoordinate) }
    }
}

/// JSON lines, each with a fix.
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
