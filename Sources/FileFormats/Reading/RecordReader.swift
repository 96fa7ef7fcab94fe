package import ReferenceSystems
package import Whereabouts
import WireFormats

/// The caller's settings for reading files.
package struct FileChoices {
    /// The time of the house, to find fixes in the future.
    package var now: Timestamp
    /// The zone of times without one; `nil` refuses them.
    package var zone: LocalZone?
    /// The reference system of the x and y in a GPX file; `nil` for degrees.
    package var system: CoordinateReferenceSystem?
    /// The format; `nil` detects it by the content.
    package var format: FileFormat?

    /// Choices for a file whose format is detected.
    package init(
        now: Timestamp, zone: LocalZone? = nil, system: CoordinateReferenceSystem? = nil, format: FileFormat? = nil
    ) {
        (self.now, self.zone, self.system, self.format) = (now, zone, system, format)
    }

    /// The moment of a time as text.
    ///
    /// - Throws: ``FormatFault/timeWithoutZone(_:place:)`` for a local time, if the zone is not known.
    func moment(of time: FileTime, _ format: FileFormat, place: Int) throws(FormatFault) -> ReportedTime {
        switch time {
        case .missing: return .missing
        case .unreadable: return .unreadable
        case .at(let time): return .at(time)
        case .local(let milliseconds):
            guard let zone else { throw .timeWithoutZone(format, place: place) }
            return .at(zone.moment(ofLocal: milliseconds))
        }
    }
}

/// The one shape of all readers: bytes in, records out.
///
/// A reader keeps only the state that one record needs; its memory does not grow with the file. It is fed in pieces of
/// at most ``FileSource/pieceBytes``, so that a call returns a bounded number of records.
protocol RecordReader: AnyObject {
    /// Reads the next bytes. The records before a fault are in `records`.
    func read(_ bytes: ArraySlice<UInt8>, into records: inout [FileRecord]) throws(FormatFault)
    /// Takes the end of the file.
    func finish(into records: inout [FileRecord]) throws(FormatFault)
    /// The content not imported so far.
    var passedOver: PassedOver { get }
    /// The operations that converted the coordinates to WGS 84; `nil` if they are WGS 84.
    var operations: CoordinateReferenceSystem.UsedOperations? { get }
}

extension RecordReader {
    var operations: CoordinateReferenceSystem.UsedOperations? { nil }
}
