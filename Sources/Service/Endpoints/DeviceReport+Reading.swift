import Cryptography
import Whereabouts
import WireFormats

extension DeviceReport {
    /// What is reported to the log of what was read from one body.
    ///
    /// - Parameters:
    ///   - droppedBytes: how much longer the body was.
    ///   - receivedLive: the device itself reports, and the house knows when.
    static func all(
        _ reports: [Report], from body: [UInt8], droppedBytes: Int = 0, receivedLive: Bool
    ) -> [DeviceReport] {
        reports.map { report in
            switch report {
            case .fix(var fix, let answering):
                if receivedLive { fix.receivedAt = nil }
                return .fix(fix, answering: answering)
            case .authorization(let report): return .authorization(report)
            case .sighting(let sighting): return .sighting(sighting)
            case .waypoint(let waypoint): return .waypoint(waypoint)
            case .message(let type, let text):
                let hash = Hash256(SHA256().hash(Array("\(type)\n\(text)".utf8)))
                return .message(ClientMessage(type: type, text: text, hash: hash))
            case .rejected(let reason, let part):
                let text = part.map { Array($0) } ?? body
                return .rejected(
                    reason,
                    RejectedInput(hash: Hash256(SHA256().hash(text)), head: Array(text.prefix(Limits.rejectedBytes))),
                    length: Int64(text.count + (part == nil ? droppedBytes : 0)))
            }
        }
    }
}
