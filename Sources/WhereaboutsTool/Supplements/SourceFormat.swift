import Gazetteer
import JSON
import WireFormats

/// The formats of files from which supplements are made.
enum SourceFormat: String, CaseIterable {
    /// OpenAddresses' older format: a header such as
    /// `LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH`, then one line for each address.
    case openAddressesCSV = "openaddresses-csv"
    /// OpenAddresses' present format: one GeoJSON feature per line, with those names in lower case.
    case openAddressesGeoJSON = "openaddresses-geojson"
    /// GeoNames' postal codes: twelve columns separated by tabs, no header.
    case geoNamesPostalCodes = "geonames-postal"
    /// GeoNames' places, for example `allCountries.txt`, `AT.txt` or `cities500.txt`: 19 columns.
    case geoNamesPlaces = "geonames-places"
    /// GeoNames' `admin2Codes.txt`, four columns: the names of second-order divisions.
    case geoNamesDivisions = "geonames-admin2"

    /// Detects the format by the first line; `nil` for an unknown one.
    static func told(by line: [UInt8]) -> SourceFormat? {
        if line.starts(with: Array(#"{"type""#.utf8)) { return .openAddressesGeoJSON }
        switch line.count(where: { $0 == 0x09 }) + 1 {
        case GeoNamesPostalCodeLines.columnCount: return .geoNamesPostalCodes
        case GeoNamesPlaceLines.columnCount: return .geoNamesPlaces
        case GeoNamesDivisionLines.columnCount: return .geoNamesDivisions
        default: break
        }
        return OpenAddressesCSVLines(header: line) == nil ? nil : .openAddressesCSV
    }

    /// The attribution, if the format has a known one; an import of other data must give it.
    var attribution: (text: String, licence: String)? {
        switch self {
        case .openAddressesCSV, .openAddressesGeoJSON: nil
        case .geoNamesPostalCodes, .geoNamesPlaces, .geoNamesDivisions: ("GeoNames (geonames.org)", "CC BY 4.0")
        }
    }

    /// A reader of the lines; `nil` if the first line is not of this format.
    func lines(first: [UInt8]) -> (any SourceLines)? {
        switch self {
        case .openAddressesCSV: OpenAddressesCSVLines(header: first)
        case .openAddressesGeoJSON: OpenAddressesGeoJSONLines()
        case .geoNamesPostalCodes: GeoNamesPostalCodeLines()
        case .geoNamesPlaces: GeoNamesPlaceLines()
        case .geoNamesDivisions: GeoNamesDivisionLines()
        }
    }
}

/// Reads the lines of one format. Each is without its line end, is UTF-8 and has a bounded length.
protocol SourceLines {
    /// Whether the first line is a header.
    var hasHeader: Bool { get }
    func row(of line: [UInt8]) throws(LineRejection) -> SupplementRow
}

struct OpenAddressesCSVLines: SourceLines {
    private enum Column: String, CaseIterable {
        case longitude = "lon"
        case latitude = "lat"
        case number, street, city, postcode
    }

    let hasHeader = true
    private let columnCount: Int
    private let columns: [Column: Int]

    /// `nil` unless the header has longitude, latitude, number and street, in upper or lower case.
    init?(header: [UInt8]) {
        guard let names = try? DelimitedLine.fields(of: header) else { return nil }
        columnCount = names.count
        var columns: [Column: Int] = [:]
        for (index, name) in names.enumerated() {
            guard let column = Column(rawValue: String(decoding: name, as: UTF8.self).lowercased()),
                columns[column] == nil
            else { continue }
            columns[column] = index
        }
        guard [.longitude, .latitude, .number, .street].allSatisfy({ columns[$0] != nil }) else { return nil }
        self.columns = columns
    }

    func row(of line: [UInt8]) throws(LineRejection) -> SupplementRow {
        let fields = try DelimitedLine.fields(of: line)
        guard fields.count == columnCount else { throw .columnCount }
        func field(_ column: Column) -> [UInt8] { columns[column].map { fields[$0] } ?? [] }
        let place = try StoredCoordinate(
            latitude: DecimalText.parse(field(.latitude)), longitude: DecimalText.parse(field(.longitude)))
        return .address(
            try AddressRow(
                place: place, number: field(.number), street: field(.street), city: field(.city),
                postcode: field(.postcode)))
    }
}

struct OpenAddressesGeoJSONLines: SourceLines {
    let hasHeader = false

    func row(of line: [UInt8]) throws(LineRejection) -> SupplementRow {
        guard let feature = try? JSONDocument.parse(line).root, feature["type"]?.string == "Feature",
            let properties = feature["properties"]
        else { throw .malformedJSON }
        guard let geometry = feature["geometry"], !geometry.isNull else { throw .noCoordinate }
        guard geometry["type"]?.string == "Point" else { throw .notAPoint }
        let pair = geometry["coordinates"]?.array.map { $0.prefix(2).map(\.double) } ?? []
        guard pair.count == 2 else { throw .noCoordinate }
        let place = try StoredCoordinate(latitude: pair[1], longitude: pair[0])
        func text(_ key: String) -> [UInt8] { Array((properties[key]?.string ?? "").utf8) }
        return .address(
            try AddressRow(
                place: place, number: text("number"), street: text("street"), city: text("city"),
                postcode: text("postcode")))
    }
}

extension AddressRow {
    /// From the texts of OpenAddresses. Units are left out: all units of one number are one address.
    fileprivate init(
        place: StoredCoordinate, number: [UInt8], street: [UInt8], city: [UInt8], postcode: [UInt8]
    ) throws(LineRejection) {
        let street = try SourceText.clean(street, atMost: SourceText.streetMax)
        guard !street.isEmpty else { throw .noStreet }
        let number = try SourceText.clean(number, atMost: SourceText.numberMax)
        self.init(
            // Some counties write 0 for an unknown number.
            place: place, number: number == "0" ? "" : number,
            locality: try SourceText.clean(city, atMost: SourceText.townMax),
            postalCode: try SourceText.clean(postcode, atMost: SourceText.codeMax), street: street)
    }
}

/// Columns: country, postal code, place name, name and code of the first, second and third division, latitude, longitude,
/// accuracy (download.geonames.org/export/zip/readme.txt).
struct GeoNamesPostalCodeLines: SourceLines {
    static let columnCount = 12
    let hasHeader = false

    func row(of line: [UInt8]) throws(LineRejection) -> SupplementRow {
        let fields = try GeoNamesLine.fields(of: line, count: Self.columnCount)
        let country = try GeoNamesLine.country(fields[0])
        let place = try StoredCoordinate(
            latitude: DecimalText.parse(fields[9]), longitude: DecimalText.parse(fields[10]))
        let code = try SourceText.clean(fields[1], atMost: SourceText.codeMax)
        guard !code.isEmpty else { throw .noPostalCode }
        let accuracy = Int(String(decoding: fields[11], as: UTF8.self)) ?? 0
        return .postalCode(
            PostalCodeRow(
                place: place, country: country, code: code,
                town: try SourceText.clean(fields[2], atMost: SourceText.townMax),
                accuracy: (1...6).contains(accuracy) ? accuracy : 0))
    }
}

/// Columns: geonameid, name, name in ASCII, other names, latitude, longitude, feature class and code, country, other
/// countries, codes of four divisions, population, elevation, height of the ground, time zone, date of change
/// (download.geonames.org/export/dump/readme.txt).
struct GeoNamesPlaceLines: SourceLines {
    static let columnCount = 19
    let hasHeader = false

    /// Former populated places: historical, abandoned, destroyed.
    private static let gone: Set<String> = ["PPLH", "PPLQ", "PPLW", "PPLCH"]

    func row(of line: [UInt8]) throws(LineRejection) -> SupplementRow {
        let fields = try GeoNamesLine.fields(of: line, count: Self.columnCount)
        func text(_ column: Int) -> String { String(decoding: fields[column], as: UTF8.self) }
        let kind: SpotKind? =
            switch (text(6), text(7)) {
            case ("P", let code): Self.gone.contains(code) ? nil : code == "PPLX" ? .part : .populated
            case ("S", _), ("L", _), ("T", _), ("V", _): .interest
            default: nil
            }
        guard let kind else { throw .notWanted }
        let country = try GeoNamesLine.country(fields[8])
        let place = try StoredCoordinate(
            latitude: DecimalText.parse(fields[4]), longitude: DecimalText.parse(fields[5]))
        let name = try SourceText.clean(fields[1], atMost: SourceText.streetMax)
        guard !name.isEmpty else { throw .noName }
        guard let number = UInt32(text(0)) else { throw .noGeonameID }
        let division = try SourceText.clean(fields[11], atMost: SourceText.townMax)
        return .spot(
            SpotRow(
                place: place, name: name, kind: kind, geonameID: Int(number), population: Int(UInt32(text(14)) ?? 0),
                country: country, division: division.isEmpty ? "" : "\(country).\(text(10)).\(division)"))
    }
}

/// Columns: the codes of country, division and subdivision joined by dots, name, name in ASCII, geonameid.
struct GeoNamesDivisionLines: SourceLines {
    static let columnCount = 4
    let hasHeader = false

    func row(of line: [UInt8]) throws(LineRejection) -> SupplementRow {
        let fields = try GeoNamesLine.fields(of: line, count: Self.columnCount)
        let code = try SourceText.clean(fields[0], atMost: SourceText.townMax)
        // Two dots: `admin1Codes` has the same columns, and its names are in the bundled gazetteer.
        guard code.count(where: { $0 == "." }) >= 2 else { throw .notWanted }
        let name = try SourceText.clean(fields[1], atMost: SourceText.townMax)
        guard !name.isEmpty else { throw .noName }
        return .division(code: code, name: name)
    }
}

/// The common form of GeoNames' lines: columns separated by tabs, no quotes.
enum GeoNamesLine {
    static func fields(of line: [UInt8], count: Int) throws(LineRejection) -> [ArraySlice<UInt8>] {
        let fields = line.split(separator: 0x09, omittingEmptySubsequences: false)
        guard fields.count == count else { throw .columnCount }
        return fields
    }

    static func country(_ field: ArraySlice<UInt8>) throws(LineRejection) -> String {
        guard let code = CountryCode(String(decoding: field, as: UTF8.self)) else { throw .noCountry }
        return code.description
    }
}

/// A line of comma-separated values (RFC 4180) without line breaks in quotes, which would let one stray quote swallow
/// the rest of a file.
enum DelimitedLine {
    static func fields(of line: [UInt8]) throws(LineRejection) -> [[UInt8]] {
        let (quote, comma) = (UInt8(ascii: "\""), UInt8(ascii: ","))
        var fields: [[UInt8]] = []
        var at = line.startIndex
        while true {
            var field: [UInt8] = []
            if at < line.endIndex, line[at] == quote {
                at += 1
                while true {
                    guard at < line.endIndex else { throw .quote }
                    if line[at] == quote {
                        at += 1
                        guard at < line.endIndex, line[at] == quote else { break }
                    }
                    field.append(line[at])
                    at += 1
                }
                guard at == line.endIndex || line[at] == comma else { throw .quote }
            } else {
                let end = line[at...].firstIndex(of: comma) ?? line.endIndex
                field = Array(line[at..<end])
                at = end
            }
            fields.append(field)
            guard at < line.endIndex else { return fields }
            at += 1
        }
    }
}
