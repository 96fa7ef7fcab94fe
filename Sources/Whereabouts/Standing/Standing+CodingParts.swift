import Geodesy

// The parts of rows of the saved standing.

extension Standing {
    /// The identifiers in `bytes`, one after the other.
    static func identifiers(_ bytes: [UInt8]) throws(CBORError) -> [Identifier128] {
        guard bytes.count % 16 == 0 else { throw .unexpected }
        return stride(from: 0, to: bytes.count, by: 16).compactMap { start in
            bytes[start..<start + 16].withUnsafeBytes { Identifier128(bytes: $0) }
        }
    }
}

extension Standing.Query.Push {
    /// Seven numbers; `Int64.min` means a missing time.
    var stored: [Int64] {
        [
            device.rawValue, startedAt.milliseconds, tries, starts, state.rawValue, mayHaveArrived ? 1 : 0,
            wokenBefore?.milliseconds ?? .min,
        ]
    }

    /// Reads pushes from the concatenation of their ``stored`` numbers.
    static func stored(_ numbers: [Int64]) throws(CBORError) -> [Self] {
        guard numbers.count % 7 == 0 else { throw .unexpected }
        var pushes: [Self] = []
        for start in stride(from: 0, to: numbers.count, by: 7) {
            guard let state = State(rawValue: numbers[start + 4]) else { throw .unexpected }
            let wokenBefore = numbers[start + 6]
            pushes.append(
                Self(
                    device: DeviceID(rawValue: numbers[start]), startedAt: Timestamp(milliseconds: numbers[start + 1]),
                    wokenBefore: wokenBefore == .min ? nil : Timestamp(milliseconds: wokenBefore),
                    tries: numbers[start + 2], starts: numbers[start + 3], state: state,
                    mayHaveArrived: numbers[start + 5] == 1))
        }
        return pushes
    }
}

extension Standing {
    static func newestFix(
        _ fix: (at: Timestamp?, number: Int64?), _ cell: HeldCell?
    ) throws(CBORError) -> NewestFix? {
        guard let timestamp = fix.at else { return nil }
        return NewestFix(timestamp: timestamp, number: try require(fix.number), cell: try require(cell))
    }
}

extension FieldWriter {
    mutating func cell(_ number: Int64, _ cell: HeldCell?) {
        guard let cell else { return }
        degrees(number, [cell.center.latitude, cell.center.longitude, cell.widthDegrees])
    }
}

extension FieldReader {
    mutating func cell(_ number: Int64) throws(CBORError) -> HeldCell? {
        guard let values = try degreesList(number) else { return nil }
        guard values.count == 3, let center = try? Coordinate(latitude: values[0], longitude: values[1]), values[2] > 0,
            values[2] <= 360
        else { throw .unexpected }
        return HeldCell(center: center, widthDegrees: values[2])
    }
}
