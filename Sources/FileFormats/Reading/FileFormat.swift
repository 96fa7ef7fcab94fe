/// The formats of files that can be imported.
package enum FileFormat: String, Sendable, CaseIterable {
    /// GPX 1.0 and 1.1, also of Apple Health, Reitti and GPSLogger.
    case gpx
    /// JSON lines in this project's own form.
    case fixes
    /// Google Takeout until 2024: `Records.json`.
    case googleRecords = "google-records"
    /// Google Takeout until 2024: `Semantic Location History`, one file for each month.
    case googleSemantic = "google-semantic"
    /// The Android app since 2024: `Timeline.json`.
    case googleTimeline = "google-timeline"
    /// The iPhone app since 2024: `location-history.json`.
    case googleTimelineIPhone = "google-timeline-iphone"
    /// Google Takeout since 2024: `Timeline Edits.json`.
    case googleEdits = "google-edits"
    /// OwnTracks: `.rec` files of the Recorder, its answers, and single messages.
    case ownTracks = "owntracks"
    /// GeoJSON with times.
    case geoJSON = "geojson"
    /// Comma-separated values with a head.
    case csv
    /// KML, also from a KMZ file.
    case kml
    /// Garmin's Training Center Database.
    case tcx
    /// Garmin's Flexible and Interoperable Data Transfer.
    case fit
    /// The sentences of a GNSS receiver, NMEA 0183.
    case nmea
    /// Flight records of the International Gliding Commission.
    case igc
    /// Arc for iPhone, JSON export.
    case arc
    /// Polarsteps: `locations.json`.
    case polarsteps
    /// Saved batches of Overland.
    case overland
    /// Points and visits of a Dawarich archive.
    case dawarich
    /// GeoPulse: raw GPS data and timeline.
    case geoPulse = "geopulse"
    /// Moves: `storyline.json`.
    case moves
    /// Samsung Health: the points of an exercise.
    case samsungHealth = "samsung-health"
    /// An archive of this service: reported visits, regions and corrections. Its fixes are ``fixes``.
    case whereabouts

    /// The name in sentences.
    package var title: String {
        switch self {
        case .gpx: "GPX"
        case .fixes: "JSON lines of fixes"
        case .googleRecords: "Google's Records.json"
        case .googleSemantic: "Google's Semantic Location History"
        case .googleTimeline: "Google's Timeline.json"
        case .googleTimelineIPhone: "Google's location-history.json"
        case .googleEdits: "Google's Timeline Edits.json"
        case .ownTracks: "OwnTracks"
        case .geoJSON: "GeoJSON"
        case .csv: "CSV"
        case .kml: "KML"
        case .tcx: "TCX"
        case .fit: "FIT"
        case .nmea: "NMEA"
        case .igc: "IGC"
        case .arc: "Arc"
        case .polarsteps: "Polarsteps"
        case .overland: "Overland"
        case .dawarich: "Dawarich"
        case .geoPulse: "GeoPulse"
        case .moves: "Moves"
        case .samsungHealth: "Samsung Health"
        case .whereabouts: "an archive of Whereabouts"
        }
    }

    /// The unit of ``FileRecord/place``, for example in "the first at line 3".
    package var placeWord: String {
        switch self {
        case .gpx, .fixes, .csv, .kml, .tcx, .nmea, .igc, .dawarich, .whereabouts: "line"
        case .googleRecords, .googleSemantic, .googleTimeline, .googleTimelineIPhone, .googleEdits, .ownTracks,
            .geoJSON,
            .fit, .arc, .polarsteps, .overland, .geoPulse, .moves, .samsungHealth:
            "record"
        }
    }
}
