import Geodesy
import JSON
import Log
import Whereabouts
import WireFormats

/// Waiting fixes and visits of one device, as JSON.
struct PendingBatch {
    enum Item {
        case fix(Fix)
        case visit(VisitReport)
    }

    let person: Handle
    private(set) var fixes: [(line: Int, time: Timestamp, place: Coordinate)] = []
    private(set) var visitLines: [Int] = []
    private var json: [[UInt8]] = []
    private var visitJSON: [[UInt8]] = []
    private var byteCount = 0

    /// A request with its frame stays below the service's limit.
    static let bytesMax = Limits.ingestBodyBytes - 4096

    init(person: Handle) { self.person = person }

    /// The fixes and visits.
    var count: Int { fixes.count + visitLines.count }

    /// - Returns: `false` if the batch is full.
    mutating func append(_ item: Item, line: Int) -> Bool {
        var writer = JSONWriter()
        switch item {
        case .fix(let fix): FixJSON.write(fix, into: &writer)
        case .visit(let visit):
            writer.beginObject()
            ReportJSON.writeMembers(of: .visit(visit), into: &writer)
            writer.endObject()
        }
        guard count < Limits.batchCommands, byteCount + writer.bytes.count + 1 <= Self.bytesMax - Self.frameBytes
        else {
            return false
        }
        switch item {
        case .fix(let fix):
            fixes.append((line, fix.timestamp, fix.coordinate))
            json.append(writer.bytes)
        case .visit:
            visitLines.append(line)
            visitJSON.append(writer.bytes)
        }
        byteCount += writer.bytes.count + 1
        return true
    }

    /// Two handles of at most 63 characters, and the members' names.
    private static let frameBytes = 256

    /// The bytes that ``write(_:into:)`` writes, at the most.
    var requestBytes: Int { byteCount + Self.frameBytes }

    func write(_ device: Handle, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("person", person.text)
        writer.field("device", device.text)
        writer.array("fixes") { array in
            for fix in json { array.raw(fix) }
        }
        if !visitJSON.isEmpty {
            writer.array("visits") { array in
                for visit in visitJSON { array.raw(visit) }
            }
        }
        writer.endObject()
    }
}
