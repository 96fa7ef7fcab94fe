import Answers
import Foundation
import Geodesy
import Glibc
import JSON
import Replies
import Service
import TestSupport
import Testing

@testable import Gazetteer
@testable import WhereaboutsTool

/// A copy of the bundled gazetteer, by links, that a test may add to.
final class GazetteerFolder {
    let folder = TemporaryFolder()
    var path: String { folder.path + "/" }

    init() throws {
        let bundled = try #require(GazetteerLocation.find())
        let home = String(bundled[...(try #require(bundled.lastIndex(of: "/")))])
        for name in ["places", "zones", "regions", "waters", "airports", "cities", "names", "translations"] {
            symlink("\(home)\(name).gazetteer", "\(path)\(name).gazetteer")
        }
    }

    func gazetteer() throws -> Gazetteer { try Gazetteer(path: path + "places.gazetteer") }

    /// Imports texts as files.
    @discardableResult
    func add(
        name: String = "test", attribution: String? = "The city", licence: String? = "CC0 1.0", _ files: String...,
        isEnding: () -> Bool = { false }
    ) throws -> SupplementReport {
        var paths: [String] = []
        for (number, file) in files.enumerated() { paths.append(try folder.write(file, to: "\(name)-\(number)")) }
        return try self.import(name, attribution: attribution, licence: licence, paths, isEnding: isEnding)
    }

    @discardableResult
    func `import`(
        _ name: String, attribution: String? = "The city", licence: String? = "CC0 1.0", _ paths: [String],
        isEnding: () -> Bool = { false }
    ) throws -> SupplementReport {
        let fold = try #require(try gazetteer().streetFold)
        return try SupplementImport(
            folder: path, name: name, files: paths, attribution: attribution, licence: licence,
            fold: fold, console: Screen().console, batchLines: 1000
        ).run(isEnding: isEnding)
    }

    func bytes(of name: String) throws -> Data {
        try Data(contentsOf: URL(filePath: Supplement.path(of: name, in: path)))
    }

    func reverse(_ latitude: Double, _ longitude: Double, accuracy: Double? = nil) throws -> Placemark {
        let transform = GeocentricTransform()
        return try gazetteer().placemark(
            at: Coordinate(latitude: latitude, longitude: longitude), accuracyMeters: accuracy, using: transform)
    }

    /// The supplements' results for a text, as the tool prints them.
    func forward(_ text: String) throws -> [JSONValue] {
        let (gazetteer, transform) = (try gazetteer(), GeocentricTransform())
        return try gazetteer.addresses(named: text, limit: 5, using: transform).map { found in
            var writer = JSONWriter()
            writer.value(PlacemarkItem(.address(found), of: gazetteer, in: [], using: transform))
            return try JSONDocument.parse(writer.bytes).root
        }
    }
}

/// Files in the true forms of their makers; the addresses are invented but for their streets.
enum SourceFiles {
    /// A header and rows as OpenAddresses published them.
    static let header = "LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH\n"
    static let paris =
        header + """
            2.3601000,48.8556000,10,Rue de Rivoli,,Paris,,,75004,75104_8249_00010,1f2e3d4c5b6a7980
            2.3597000,48.8557000,12,Rue de Rivoli,,Paris,,,75004,75104_8249_00012,2f2e3d4c5b6a7980
            2.3612000,48.8553000,8 bis,Rue de Rivoli,,Paris,,,75004,75104_8249_00008,3f2e3d4c5b6a7980
            2.3385000,48.8606000,99,Rue de Rivoli,,Paris,,,75001,75101_8249_00099,4f2e3d4c5b6a7980
            2.4390000,48.8475000,5,Rue de Fontenay,,Vincennes,,,94300,94080_1,5f2e3d4c5b6a7980
            2.3590000,48.8535000,3,"Quai de l'Hôtel de Ville, côté Seine",,Paris,,,75004,75104_1,6f2e3d4c5b6a7980

            """
    /// As OpenAddresses publishes since 2021, with its padded capitals.
    static let seattle = """
        {"type":"Feature","properties":{"hash":"a61bdd50a9646a04","number":"119","street":"NW  41ST ST","unit":"","city":"SEATTLE","district":"KING","region":"","postcode":"98107","id":"324731.0"},"geometry":{"type":"Point","coordinates":[-122.3580529,47.6561133]}}
        {"type":"Feature","properties":{"hash":"b61bdd50a9646a04","number":"1521","street":"2ND AVE","unit":"1001","city":"SEATTLE","district":"KING","region":"","postcode":"98101","id":"2"},"geometry":{"type":"Point","coordinates":[-122.3396,47.6096]}}
        {"type":"Feature","properties":{"hash":"c61bdd50a9646a04","number":"1521","street":"2ND AVE","unit":"1002","city":"SEATTLE","district":"KING","region":"","postcode":"98101","id":"3"},"geometry":{"type":"Point","coordinates":[-122.3396,47.6096]}}

        """
    /// As download.geonames.org/export/zip publishes.
    static let postal = [
        ["FR", "36120", "Ardentes", "Centre", "24", "Indre", "36", "Châteauroux", "363", "46.7444", "1.8333", "5"],
        ["FR", "75001", "Paris 01 Louvre", "Île-de-France", "11", "Paris", "75", "", "", "48.8592", "2.3417", "5"],
        ["FR", "75002", "Paris", "Île-de-France", "11", "Paris", "75", "Paris", "751", "48.8655", "2.3426", "5"],
        ["FR", "75003", "Paris", "Île-de-France", "11", "Paris", "75", "Paris", "751", "48.8637", "2.3615", "5"],
        ["US", "24060", "Blacksburg", "Virginia", "VA", "Montgomery", "121", "", "", "37.2563", "-80.4347", "4"],
        ["US", "24060", "Blacksburg Annex", "Virginia", "VA", "Montgomery", "121", "", "", "37.25", "-80.42", "1"],
        ["DE", "24060", "Kielhausen", "Schleswig-Holstein", "SH", "", "", "", "", "54.32", "10.13", ""],
        ["GB", "SW1A 1AA", "London", "England", "ENG", "", "", "", "", "51.501", "-0.1416", "6"],
    ].map { $0.joined(separator: "\t") + "\n" }.joined()

    /// As download.geonames.org/export/dump publishes: one place in 19 columns.
    static func place(
        _ id: Int, _ name: String, _ latitude: Double, _ longitude: Double, _ feature: String, country: String = "AT",
        division: String = "03\t306", population: Int = 0
    ) -> String {
        let (kind, code) = (feature.prefix(1), feature.dropFirst(2))
        return "\(id)\t\(name)\t\(name)\t\t\(latitude)\t\(longitude)\t\(kind)\t\(code)\t\(country)\t\t\(division)\t\t\t"
            + "\(population)\t\t210\tEurope/Vienna\t2024-01-01\n"
    }
}
