import Geodesy
import ReferenceSystems
import Whereabouts
import WireFormats

/// The track points of a GPX file; see `GPXReader`.
final class GPXRecords: RecordReader {
    private var reader = GPXReader()
    private let choices: FileChoices
    private(set) var operations: CoordinateReferenceSystem.UsedOperations?

    init(_ choices: FileChoices) {
        self.choices = choices
        operations = choices.system.map { _ in .init() }
    }

    func read(_ bytes: ArraySlice<UInt8>, into records: inout [FileRecord]) throws(FormatFault) {
        defer { records += reader.takePoints().map(record) }
        do throws(GPXError) { try reader.feed(bytes) } catch { throw .malformed(.gpx, error.description) }
    }

    func finish(into records: inout [FileRecord]) throws(FormatFault) {
        defer { records += reader.takePoints().map(record) }
        do throws(GPXError) { try reader.finish() } catch { throw .malformed(.gpx, error.description) }
    }

    var passedOver: PassedOver {
        var passed = PassedOver()
        passed.set(.wayPoints, reader.counts.waypoints)
        passed.set(.routePoints, reader.counts.routePoints)
        return passed
    }

    private func record(_ point: GPXPoint) -> FileRecord {
        FileRecord(place: point.line, content: content(of: point))
    }

    private func content(of point: GPXPoint) -> FileRecord.Content {
        guard let system = choices.system else {
            guard let report = point.report(now: choices.now) else {
                return .untimed(try? Coordinate(latitude: point.latitude, longitude: point.longitude))
            }
            return FileRecord(report, place: point.line).content
        }
        do throws(GeodesyError) {
            let place = try system.toWGS84(point.longitude, point.latitude)
            operations?.insert(try system.operation(at: place))
            guard
                let report = point.report(latitude: place.latitude, longitude: place.longitude, now: choices.now)
            else { return .untimed(place) }
            return FileRecord(report, place: point.line).content
        } catch { return point.time == .missing ? .untimed(nil) : .rejected(.badCoordinate) }
    }
}
