import Geodesy
import TestSupport
import Testing

@testable import Gazetteer

/// The checked table of divisions against the places.
@Suite struct DivisionTests {
    let gazetteer: Gazetteer
    /// Codes by GeoNames' divisions ("AT.09"); empty if ISO 3166-2 has none.
    let codes: [String: String]

    init() throws {
        gazetteer = try Gazetteer(path: Repository.gazetteerPath)
        let text = String(decoding: try contents(ofFile: "\(Repository.root)/data/divisions.tsv"), as: UTF8.self)
        var codes: [String: String] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            try #require(columns.count == 4, "\(line)")
            for area in columns[3].split(separator: " ") {
                codes[String(area)] = columns[0] == "-" ? "" : String(columns[0])
            }
        }
        self.codes = codes
    }

    /// Countries whose divisions ISO 3166-2 does not list and that it does not list as a part of another country; and GeoNames'
    /// divisions that ISO 3166-2 lacks: the West Bank, Gaza, central Serbia, Taiwan, the islands off Fujian and São Tomé (it
    /// lists their parts), Israeli places in the West Bank, and the British bases on Cyprus.
    private static let withoutCodes = Set(
        """
        AI BM CC CK CX EH FK FO GG GI GS IM IO JE KY MS NF NU PN SG TC TK VA VG XK PS.WE PS.GZ RS.SE TW.01 TW.04 ST.02 IL. IL.WE \
        GB.
        """.split(whereSeparator: \.isWhitespace).map(String.init))

    @Test func `every division with people has a code of ISO 3166-2`() throws {
        var seen: Set<String> = []
        for number in 0..<gazetteer.placeCount {
            let place = try #require(gazetteer.place(numbered: number))
            let area = "\(place.countryCode).\(place.administrativeAreaCode ?? "")"
            guard seen.insert(area).inserted else { continue }
            let code = try #require(codes[area], "\(area), with \(place.name), is not in the table")
            #expect((place.administrativeAreaISOCode ?? "") == code)
            if Self.withoutCodes.contains(area) || Self.withoutCodes.contains(place.countryCode) { continue }
            #expect(code.count >= 4 && code.dropFirst(2).hasPrefix("-"), "\(area), with \(place.name), has no code")
        }
        #expect(seen.count > 3800)
    }

    /// Also at places whose outlines are older than today's divisions.
    @Test func `a coordinate at a town has the code of its division`() throws {
        let transform = GeocentricTransform()
        var (asked, right) = (0, 0)
        for number in stride(from: 0, to: gazetteer.placeCount, by: 97) {
            let place = try #require(gazetteer.place(numbered: number))
            guard place.population > 2000, let code = place.administrativeAreaISOCode else { continue }
            asked += 1
            if gazetteer.placemark(at: place.coordinate, using: transform).administrativeAreaCode == code { right += 1 }
        }
        // Outlines are a kilometer coarse.
        #expect(asked > 800 && Double(right) > 0.97 * Double(asked), "\(right) of \(asked)")
    }
}
