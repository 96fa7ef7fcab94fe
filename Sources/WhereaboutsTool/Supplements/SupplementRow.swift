import Gazetteer
import Geodesy

/// The content of one line of a source.
enum SupplementRow: Equatable {
    case address(AddressRow)
    case postalCode(PostalCodeRow)
    case spot(SpotRow)
    /// The name of a second-order division, by its codes, for example `AT.09.900`.
    case division(code: String, name: String)
}

/// A house, or a point of a street.
struct AddressRow: Equatable {
    let place: StoredCoordinate
    /// Empty if the source has none, like the next two.
    let number: String
    let locality: String
    let postalCode: String
    let street: String
}

/// A postal code of a town.
struct PostalCodeRow: Equatable {
    let place: StoredCoordinate
    /// ISO 3166-1, two capital letters.
    let country: String
    let code: String
    let town: String
    /// GeoNames' 1 (estimated) to 6 (center of the addresses); 0 if unknown.
    let accuracy: Int
}

/// A place of GeoNames.
struct SpotRow: Equatable {
    let place: StoredCoordinate
    let name: String
    let kind: SpotKind
    let geonameID: Int
    let population: Int
    /// ISO 3166-1, two capital letters.
    let country: String
    /// The codes of its second-order division, as in ``SupplementRow/division(code:name:)``.
    let division: String
}

/// Latitude and longitude in 1e-7 degrees, as in supplements.
struct StoredCoordinate: Equatable {
    let latitude, longitude: Int
}

extension StoredCoordinate {
    /// - Throws: ``LineRejection`` if it is not a coordinate, and for 0, 0, which means "unknown" in such sources.
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

/// Why a line is rejected.
enum LineRejection: String, Error {
    /// More than ``InputLines/lineBytesMax`` bytes.
    case lineTooLong
    case invalidUTF8
    /// A NUL or another control character within a text.
    case controlCharacter
    /// The line has fewer or more columns than the format or the header.
    case columnCount
    /// A quote does not end in its line, or is followed by more than the next column.
    case quote
    case malformedJSON
    /// A feature with another geometry, for example a parcel.
    case notAPoint
    case noCoordinate
    case coordinateOutOfRange
    case zeroCoordinate
    case noStreet
    case noPostalCode
    case noName
    /// The geonameid is missing or too large.
    case noGeonameID
    /// A feature of another kind: a road, an area, a river, or a former place.
    case notWanted
    /// The country is not two letters of ISO 3166-1.
    case noCountry
    case fieldTooLong
}

/// The texts of a source, made safe to show.
enum SourceText {
    /// The most bytes: more than any real name has, and few enough to keep millions.
    static let streetMax = 200
    static let townMax = 180
    static let numberMax = 40
    static let codeMax = 20

    /// The text without white space at its ends, and with single spaces inside, because sources pad their columns.
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
