import Geodesy

/// A point at which the derivation can be restarted: of everything before ``seed``, only ``state`` affects the rest.
package struct Restart: Hashable, Sendable {
    /// The time of the first fix to give it.
    package let seed: Timestamp
    /// The time of the newest fix that affected the state; a later fix cannot change it.
    package let closed: Timestamp
    /// The state of the derivation as a CBOR array.
    package let state: [UInt8]

    package init(seed: Timestamp, closed: Timestamp, state: [UInt8]) {
        (self.seed, self.closed, self.state) = (seed, closed, state)
    }
}

// MARK: - Coding of a state

extension TrackPoint {
    func write(to writer: inout CBORWriter) {
        writer.array(report == nil ? 4 : 6)
        writer.integer(time)
        writer.float(coordinate.latitude)
        writer.float(coordinate.longitude)
        writer.float(accuracy)
        guard let report else { return }
        writer.integer(report.rawValue)
        writer.integer(stayedUntil)
    }

    init(from reader: inout CBORReader, _ transform: GeocentricTransform) throws(CBORError) {
        let count = try reader.array()
        guard count == 4 || count == 6 else { throw .unexpected }
        let time = try reader.integer()
        guard let coordinate = try? Coordinate(latitude: try reader.float(), longitude: try reader.float()) else {
            throw .unexpected
        }
        let accuracy = try reader.float()
        var report: ReportedMoment?
        if count == 6 {
            guard let kind = ReportedMoment.Kind(rawValue: try reader.integer()) else { throw .unexpected }
            report = ReportedMoment(kind: kind, until: Timestamp(milliseconds: try reader.integer()))
        }
        self.init(time: time, coordinate: coordinate, accuracy: accuracy, report: report, transform)
    }
}

extension Stay {
    func write(to writer: inout CBORWriter) {
        writer.array(11)
        seed.write(to: &writer)
        writer.integer(arrival)
        writer.integer(departure)
        mean.write(to: &writer)
        writer.integer(lastSeen)
        writer.float(dataSeconds)
    }

    init(from reader: inout CBORReader, _ transform: GeocentricTransform) throws(CBORError) {
        guard try reader.array() == 11 else { throw .unexpected }
        let seed = try TrackPoint(from: &reader, transform)
        let arrival = try reader.integer()
        let departure = try reader.integer()
        let mean = try WeightedMean(from: &reader, origin: seed.point)
        self.init(
            seed: seed, mean: mean, arrival: arrival, departure: departure, lastSeen: try reader.integer(),
            dataSeconds: try reader.float())
    }
}

extension WeightedMean {
    /// Six items of the enclosing array, which gives the origin.
    func write(to writer: inout CBORWriter) {
        for value in [weight, x, y, z, square] { writer.float(value) }
        writer.integer(count)
    }

    init(from reader: inout CBORReader, origin: GeocentricPoint) throws(CBORError) {
        self.init(
            origin: origin, weight: try reader.float(), x: try reader.float(), y: try reader.float(),
            z: try reader.float(), square: try reader.float(), count: try reader.integer())
    }
}

extension Array<TrackPoint> {
    func write(to writer: inout CBORWriter) {
        writer.array(count)
        for fix in self { fix.write(to: &writer) }
    }

    init(from reader: inout CBORReader, _ transform: GeocentricTransform) throws(CBORError) {
        self = []
        for _ in 0..<(try reader.array()) { append(try TrackPoint(from: &reader, transform)) }
    }
}
