package import JSON
package import LocationPush

/// What happens to the simulated phones, one JSON line an event. Places are left out unless asked for.
package struct Diary: Sendable {
    /// Whether fixes are written with their coordinates.
    package let tellsPlaces: Bool
    private let clock: PushClock
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameter write: takes a line with its end, from several threads.
    package init(
        tellsPlaces: Bool = false, clock: PushClock = .system, write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        (self.tellsPlaces, self.clock, self.write) = (tellsPlaces, clock, write)
    }

    /// Writes `{"time":…,"device":…,"event":…, …}`.
    package func note(_ event: StaticString, device: String, _ fields: (inout JSONWriter) -> Void = { _ in }) {
        var line = JSONWriter()
        line.beginObject()
        line.field("time", milliseconds: clock.now().unixMs)
        line.field("device", device)
        line.field("event", event.description)
        fields(&line)
        line.endObject()
        write(line.bytes + [UInt8(ascii: "\n")])
    }
}
