/// The newest fix by the device's time, with its place in the log.
package struct NewestFix: Hashable, Sendable {
    /// The device's time of the fix.
    package let timestamp: Timestamp
    /// The number of its event.
    package let number: Int64
    /// The cell in which a coarse grant shows it.
    package let cell: HeldCell
}

/// The newest usable fix of a device.
package struct UsableFix: Hashable, Sendable {
    /// The device's time.
    package let timestamp: Timestamp
    /// The number of its event.
    package let number: Int64

    package init(timestamp: Timestamp, number: Int64) { (self.timestamp, self.number) = (timestamp, number) }
}

/// The newest fixes of a person, of all devices.
package struct NewestFixes: Hashable, Sendable {
    /// The newest usable fix, also if it is withdrawn; `nil` without one.
    package internal(set) var fix: NewestFix?
    /// The newest fix when the last pause began.
    package internal(set) var beforePause: NewestFix?
    /// When the last fix was taken that was in the cell of ``fix`` or in its margin.
    package internal(set) var inCellAt: Timestamp?

    /// None.
    package init() {}

    /// Both fixes, newest first.
    var all: [NewestFix] { [fix, beforePause].compactMap { $0 } }
}
