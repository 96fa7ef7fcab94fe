import Geodesy

/// One row of the saved standing: a kind, an id and a CBOR map.
package struct StandingEntry: Hashable, Sendable {
    /// The subject of the row.
    package let kind: Kind
    /// The number of the thing; for a correction that of its event, for queries the place in the order asked, for asks
    /// that of the pairs.
    package let id: Int64
    /// A CBOR map.
    package let body: [UInt8]

    /// A row as it was saved.
    package init(kind: Kind, id: Int64, body: [UInt8]) { (self.kind, self.id, self.body) = (kind, id, body) }

    init(_ kind: Kind, _ id: Int64, _ write: (inout FieldWriter) -> Void) {
        var fields = FieldWriter()
        write(&fields)
        self.init(kind: kind, id: id, body: fields.finish())
    }
}

// The parts of rows that several registers have.

extension FieldWriter {
    mutating func cell(_ number: Int64, _ cell: HeldCell?) {
        guard let cell else { return }
        degrees(number, [cell.center.latitude, cell.center.longitude, cell.widthDegrees])
    }

    /// A sealed part: a map, or no bytes if it can no longer be read.
    mutating func part<Content>(
        _ number: Int64, _ part: Part<Content>?, _ write: (inout FieldWriter, Content) -> Void
    ) {
        switch part {
        case nil: break
        case .open(let content):
            var fields = FieldWriter()
            write(&fields, content)
            bytes(number, fields.finish())
        default: bytes(number, [])
        }
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

    /// Identifiers one after the other; none if the field is absent.
    mutating func identifiers(_ number: Int64) throws(CBORError) -> [Identifier128] {
        let bytes = try bytes(number) ?? []
        guard bytes.count % 16 == 0 else { throw .unexpected }
        return stride(from: 0, to: bytes.count, by: 16).compactMap { start in
            bytes[start..<start + 16].withUnsafeBytes { Identifier128(bytes: $0) }
        }
    }

    /// The opposite of ``FieldWriter/part(_:_:_:)``: `nil` without the field, erased if it is empty.
    mutating func part<Content: Hashable & Sendable>(
        _ number: Int64, _ read: (inout FieldReader) throws(CBORError) -> Content
    ) throws(CBORError) -> Part<Content>? {
        guard let bytes = try bytes(number) else { return nil }
        guard !bytes.isEmpty else { return .erased }
        let result: Result<Content, CBORError> = bytes.withUnsafeBytes { bytes in
            do throws(CBORError) {
                var fields = try FieldReader(bytes)
                let content = try read(&fields)
                try fields.end()
                return .success(content)
            } catch { return .failure(error) }
        }
        return .open(try result.get())
    }
}
