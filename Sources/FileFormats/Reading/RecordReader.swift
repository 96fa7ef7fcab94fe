package import Geodesy
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
/// at most ``FileReading/pieceBytes``, so that a call returns a bounded number of records.
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

extension FileFormat {
    /// A reader of this format at the beginning of a file.
    ///
    /// - Parameter prefix: The beginning of the file, for formats with dialects. The reader is fed these bytes too.
    func reader(_ choices: FileChoices, prefix: [UInt8]) throws(FormatFault) -> any RecordReader {
        switch self {
        case .gpx: return GPXRecords(choices)
        case .fixes: return FixLineRecords(choices)
        case .googleRecords: return JSONRecords(choices, self, GoogleRecords.self, prefix: prefix)
        case .googleSemantic: return JSONRecords(choices, self, GoogleSemantic.self, prefix: prefix)
        case .googleTimeline, .googleTimelineIPhone:
            return JSONRecords(choices, self, GoogleTimeline.self, prefix: prefix)
        case .googleEdits: return JSONRecords(choices, self, GoogleEdits.self, prefix: prefix)
        case .ownTracks:
            return OwnTracksRecords.isLines(prefix)
                ? OwnTracksRecords(choices)
                : JSONRecords(choices, self, OwnTracksMessages.self, prefix: prefix)
        case .geoJSON: return JSONRecords(choices, self, GeoJSONFeatures.self, prefix: prefix)
        case .csv: return try CSVRecords(choices, prefix: prefix)
        case .kml: return XMLRecords(.kml, KMLSteps(choices))
        case .tcx: return XMLRecords(.tcx, TCXSteps(choices))
        case .fit: return FITRecords(choices)
        case .nmea: return NMEARecords(choices)
        case .igc: return IGCRecords(choices)
        case .arc: return JSONRecords(choices, self, ArcItems.self, prefix: prefix)
        case .polarsteps: return JSONRecords(choices, self, PolarstepsLocations.self, prefix: prefix)
        case .overland: return JSONRecords(choices, self, OverlandLocations.self, prefix: prefix)
        case .dawarich: return DawarichRecords(choices)
        case .geoPulse: return JSONRecords(choices, self, GeoPulsePoints.self, prefix: prefix)
        case .moves: return JSONRecords(choices, self, MovesDays.self, prefix: prefix)
        case .samsungHealth: return JSONRecords(choices, self, SamsungLocations.self, prefix: prefix)
        case .whereabouts: return ArchiveLines(choices)
        }
    }
}
