/// Why a file, or the rest of it, cannot be imported: one sentence without its content.
package enum FormatFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file without bytes.
    case empty
    /// A kind of file that is recognized and has no history, or not one that can be read: its name and the way out.
    case refused(String, wayOut: String)
    /// GeoPulse's debug export, whose coordinates are shifted on purpose.
    case shiftedOnPurpose
    /// XML with another outermost element.
    case otherXML
    /// JSON of an unknown form.
    case otherJSON
    /// Text or bytes of an unknown form.
    case unknown
    /// CSV without a head that names columns for a place.
    case noHead
    /// The file is damaged in a way that its format's reader describes.
    case malformed(FileFormat, String)
    /// The file ends too early.
    case truncated(FileFormat)
    /// A time has no zone, and none was given.
    case timeWithoutZone(FileFormat, place: Int)
    /// A compressed file or archive is damaged.
    case badArchive(String)
    /// A member of an archive whose bytes do not have the stored checksum.
    case wrongChecksum
    /// A compressed file expands beyond the bounds.
    case expandsTooMuch
    /// An archive is nested too deeply.
    case nestedTooDeeply
    /// An archive has more members than are read.
    case tooManyMembers
    /// An archive has no member that can be imported.
    case nothingInArchive

    /// One sentence that says what to do.
    package var description: String {
        switch self {
        case .empty: "The file is empty; export or copy it again."
        case .refused(let name, let wayOut): "The file is \(name); \(wayOut)."
        case .shiftedOnPurpose:
            "The file is GeoPulse's debug export, whose coordinates are shifted on purpose; export Raw GPS Data in GeoPulse and import that."
        case .otherXML: "The file is XML but not GPX, KML or TCX; export the track as GPX and import that."
        case .otherJSON:
            "The file is JSON of an unknown form: it is not of Google, OwnTracks, Overland, Arc, Polarsteps, Dawarich, GeoPulse, Moves or Samsung Health, not GeoJSON, and its first line is not a fix with timestamp, latitude and longitude."
        case .unknown:
            "The format of the file is unknown; choose one with --format, or convert the file to GPX first."
        case .noHead: "\(CSVHeads.needed)"
        case .malformed(let format, let sentence): "The file is damaged (\(format.title)): \(sentence)"
        case .truncated(let format): "The file ends too early (\(format.title)); what came before was read."
        case .timeWithoutZone(let format, let place):
            "The times have no time zone (\(format.title), \(format.placeWord) \(place)); add --timezone, for example --timezone Europe/Vienna."
        case .badArchive(let sentence): sentence
        case .wrongChecksum: "The checksum is wrong, so some of its records may be too; they were read nevertheless."
        case .expandsTooMuch:
            "The compressed file expands beyond all measure; if you trust it, unpack it and import the parts."
        case .nestedTooDeeply: "The archive has archives in archives; unpack the outermost one first."
        case .tooManyMembers: "The archive has more than \(ZipMembers.membersMax) members; import it in parts."
        case .nothingInArchive: "The archive has no member that can be imported."
        }
    }
}
