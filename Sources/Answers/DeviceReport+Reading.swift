import Cryptography
import Log
package import Whereabouts
package import WireFormats

extension DeviceReport {
    /// The reports to append for one parsed body.
    ///
    /// - Parameters:
    ///   - droppedBytes: The bytes of the body beyond the part that was kept.
    ///   - receivedLive: Whether the device sent the body now, so that the time of receipt means something. An import
    ///     is not live.
    package static func all(
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
                let text = part ?? body
                return .rejected(
                    reason,
                    RejectedInput(hash: Hash256(SHA256().hash(text)), head: Array(text.prefix(Limits.rejectedBytes))),
                    length: Int64(text.count + (part == nil ? droppedBytes : 0)))
            }
        }
    }
}
