internal import Foundation
internal import JSON
internal import LocationSharingApp

/// Writes the events of the simulated phones, one JSON line each. Coordinates are omitted unless requested.
package struct Diary: Sendable {
    /// Whether fixes are written with their coordinates.
    package let tellsPlaces: Bool
    let write: @Sendable ([UInt8]) -> Void

    /// - Parameter write: takes a line with its end, from several threads.
    package init(tellsPlaces: Bool = false, write: @escaping @Sendable ([UInt8]) -> Void) {
        (self.tellsPlaces, self.write) = (tellsPlaces, write)
    }

    /// Writes `{"time":…,"device":…,"event":…, …}`; the time is the phone's.
    func note(_ event: StaticString, device: String, at date: Date, _ fields: (inout JSONWriter) -> Void = { _ in }) {
        var line = JSONWriter()
        line.beginObject()
        line.field("time", milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
        line.field("device", device)
        line.field("event", event.description)
        fields(&line)
        line.endObject()
        write(line.bytes + [UInt8(ascii: "\n")])
    }

    /// Writes the outcome of a message to the service.
    func note(_ event: Outbox.Event, device: String, at date: Date) {
        switch event {
        case .acknowledged(let message, let answer, let attempts):
            let said = try? JSONDocument.parse([UInt8](answer.body)).root
            note(message.kind == .token ? "tokenUploaded" : "reported", device: device, at: date) { line in
                Self.tell(message, in: &line)
                line.field("status", answer.status)
                line.field("attempts", attempts)
                line.field("new", said?["new"]?.int)
                line.field("duplicate", said?["duplicate"]?.int)
                line.field("number", said?["number"]?.int)
                if tellsPlaces, message.kind != .token { line.field("said", raw: [UInt8](message.body)) }
            }
        case .refused(let message, let status):
            note("refused", device: device, at: date) { line in
                Self.tell(message, in: &line)
                line.field("status", status)
            }
        case .retrying(let message, let reason, let seconds):
            note("retrying", device: device, at: date) { line in
                Self.tell(message, in: &line)
                line.field("reason", reason)
                line.field("afterSeconds", seconds)
            }
        case .dropped(let message): note("dropped", device: device, at: date) { Self.tell(message, in: &$0) }
        }
    }

    private static func tell(_ message: Outbox.Message, in line: inout JSONWriter) {
        line.field("message", message.kind.rawValue)
        line.field("query", message.query)
    }
}
