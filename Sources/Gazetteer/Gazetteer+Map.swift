package import Geodesy

/// A name on a map.
package struct MapName: Sendable {
    package let name: String
    package let coordinate: Coordinate
    /// The inhabitants; 0 if that is not known.
    package let population: Int
}

extension Gazetteer {
    /// The names of the most populous places in a box, by falling population.
    ///
    /// Cost: a look at the coordinates of all places, about a millisecond.
    ///
    /// - Parameters:
    ///   - longitudes: From west to east in degrees. A box over the antimeridian is asked for in two parts.
    ///   - count: How many at most.
    ///   - hasQuarters: Whether quarters of cities are named too. From afar, their names hide the city's.
    ///   - languages: For the names, the best first.
    package func mostPopulous(
        latitudes: ClosedRange<Double>, longitudes: ClosedRange<Double>, count: Int, hasQuarters: Bool,
        in languages: [Language]
    ) -> [MapName] {
        // The file has 1e-7 degrees.
        func units(_ range: ClosedRange<Double>) -> ClosedRange<Double> {
            (range.lowerBound * 1e7)...(range.upperBound * 1e7)
        }
        let (rows, columns) = (units(latitudes), units(longitudes))
        return withExtendedLifetime(self) {
            var found: [(population: UInt32, number: Int)] = []
            for number in 0..<file.records.count {
                guard rows.contains(Double(Int32(bitPattern: file.records.uint32(number, at: 0)))),
                    columns.contains(Double(Int32(bitPattern: file.records.uint32(number, at: 4)))),
                    hasQuarters || !file.isQuarter(number)
                else { continue }
                found.append((file.population(number), number))
            }
            found.sort { ($1.population, $0.number) < ($0.population, $1.number) }
            return found.prefix(max(0, count)).compactMap { population, number in
                let latitude = Double(Int32(bitPattern: file.records.uint32(number, at: 0))) / 1e7
                let longitude = Double(Int32(bitPattern: file.records.uint32(number, at: 4))) / 1e7
                guard let name = name(ofPlace: number, in: languages),
                    let coordinate = try? Coordinate(latitude: latitude, longitude: longitude)
                else { return nil }
                return MapName(name: name, coordinate: coordinate, population: Int(population))
            }
        }
    }
}
