import Gazetteer
import Geodesy

/// What a line of a source says.
enum SupplementRow: Equatable {
    case address(AddressRow)
    case postalCode(PostalCodeRow)
    case spot(SpotRow)
    /// The name of a second-order division, by its codes: `AT.09.900`.
    case division(code: String, name: String)
}

/// A house, or a point of a street.
struct AddressRow: Equatable {
    let place: StoredCoordinate
    /// Empty where the source has none, and so are the next two.
    let number: String
    let locality: String
    let postalCode: String
    let street: String
}

/// A postal code of a town.
struct PostalCodeRow: Equatable {
    let place: StoredCoordinate
    /// Two capital letters.
    let country: String
    let code: String
    let town: String
    /// GeoNames' 1 (estimated) to 6 (middle of the addresses); 0 unknown.
    let accuracy: Int
}

/// A place of GeoNames.
struct SpotRow: Equatable {
    let place: StoredCoordinate
    let name: String
    let kind: SpotKind
    let geonameID: Int
    let population: Int
    /// Two capital letters.
    let country: String
    /// The codes of its second-order division, as ``SupplementRow/division(code:name:)`` has them.
    let division: String
}

/// Latitude and longitude in 1e-7 degrees, as supplements have them.
struct StoredCoordinate: Equatable {
    let latitude, longitude: Int
}

extension StoredCoordinate {
    /// - Throws: ``LineRejection`` for what is no coordinate, and for 0, 0, which stands for "unknown" in such sources.
    init(latitude: Double?, longitude: Double?) throws(LineRejection) {
        guard let latitude, let longitude else { throw .noCoordinate }
        guard let place = try? Coordinate(latitude: latitude, longitude: longitude) else {
            throw .coordinateOutOfRange
        }
        self.latitude = Int((place.latitude * Supplement.unitsPerDegree).rounded())
        self.longitude = Int((place.longitude * Supplement.unitsPerDegree).rounded())
        guard self.latitude != 0 || self.longitude != 0 else { throw .zeroCoordinate }
    }
}

/// Why a line is not taken.
enum LineRejection: String, Error {
    /// More than ``InputLines/lineBytesMax`` bytes.
    case lineTooLong
    case invalidUTF8
    /// A NUL or another control character within a text.
    case controlCharacter
    /// Fewer or more columns than the format has, or the header names.
    case columnCount
    /// A quote that does not end in its line, or is followed by more than the next column.
    case quote
    case malformedJSON
    /// A feature of another geometry, such as a parcel.
    case notAPoint
    case noCoordinate
    case coordinateOutOfRange
    case zeroCoordinate
    case noStreet
    case noPostalCode
    case noName
    /// No number of GeoNames, or one too great.
    case noGeonameID
    /// A feature of another kind: a road, an area, a river, or a place that is no more.
    case notWanted
    /// No two letters of ISO 3166-1.
    case noCountry
    case fieldTooLong
}

/// The texts of a source, made fit to be shown.
enum SourceText {
    /// Bytes; longer than any real one, and short enough to be kept by the million.
    static let streetMax = 200
    static let townMax = 180
    static let numberMax = 40
    static let codeMax = 20

    /// The text with white space cut off its ends and every run of it within made one space, as sources pad their columns.
    static func clean(_ bytes: some Sequence<UInt8>, atMost limit: Int) throws(LineRejection) -> String {
        var kept: [UInt8] = []
        var isSpaced = false
        for byte in bytes {
            if byte == 0x20 || byte == 0x09 {
                isSpaced = !kept.isEmpty
                continue
            }
            guard byte > 0x20, byte != 0x7F else { throw .controlCharacter }
            if isSpaced { kept.append(0x20) }
            isSpaced = false
            kept.append(byte)
            guard kept.count <= limit else { throw .fieldTooLong }
        }
        return String(decoding: kept, as: UTF8.self)
    }
}
