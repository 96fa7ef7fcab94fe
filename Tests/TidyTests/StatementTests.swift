import Testing

/// The lettered statements of Core Location's behaviour that the simulator keeps, by their area: authorization, standard
/// service, visits and significant change, regions, beacons, heading, geocoding, launches, location pushes, coordinates and
/// fixes, newer sessions, tracks, and the device with the service.
@Suite struct StatementTests {
    static let statements: [(area: Character, count: Int)] = [
        ("A", 12), ("S", 7), ("V", 4), ("R", 9), ("B", 4), ("H", 3), ("G", 3), ("L", 2), ("P", 10), ("C", 2), ("N", 3),
        ("T", 2), ("D", 3),
    ]

    @Test func `each statement has a test named with its letter`() {
        var tested: Set<Substring> = []
        for file in Tree.swiftFiles(under: "Tests") {
            for line in file.lines {
                guard let name = line.firstRange(of: "func `").map({ line[$0.upperBound...] }) else { continue }
                for word in name.split(separator: " ") {
                    guard let letter = word.first, letter.isUppercase, Int(word.dropFirst()) != nil else { break }
                    tested.insert(word)
                }
            }
        }
        for (area, count) in Self.statements {
            for number in 1...count { #expect(tested.contains("\(area)\(number)"), "\(area)\(number)") }
        }
    }
}
