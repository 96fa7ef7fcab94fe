/// The class of data that a rule of retention is about.
///
/// Only the track: what a person's devices report. The audit and the settings stay until the person is erased, because
/// the person's own log commits to them, and a commitment whose content is gone can no longer be proven.
package enum RetentionClass: Int64, Sendable, CaseIterable {
    case track = 0
    /// The word in answers.
    package var word: String { String(describing: self) }
}

/// The period in which one key seals, as one number: a UTC month such as 202611, or a UTC day such as 20261124.
package enum KeyPeriod {
    /// The month of a day.
    package static func month(of day: CalendarDay) -> Int64 {
        let civil = day.civil
        return civil.year * 100 + civil.month
    }

    /// The day itself. It is greater than the number of every month.
    package static func day(_ day: CalendarDay) -> Int64 { month(of: day) * 100 + day.civil.day }
}

/// The keys that retention destroys for one person, with the events whose parts they sealed.
package struct AppliedRetention: Hashable, Sendable {
    /// The class of the keys.
    package let keyClass: RetentionClass
    /// The rule that was applied: the days that reports are kept.
    package let days: Int64
    /// Reports recorded before this moment, the beginning of a UTC day, are gone.
    package let before: Timestamp
    /// The ids of the destroyed keys, ascending.
    package let keys: [Int64]
    /// The numbers of the events. Reports of other people among them keep their keys.
    package let numbers: NumberSet

    package init(keyClass: RetentionClass, days: Int64, before: Timestamp, keys: [Int64], numbers: NumberSet) {
        (self.keyClass, self.days, self.before, self.keys, self.numbers) = (keyClass, days, before, keys, numbers)
    }
}

/// What the standing keeps of a person's reports beyond the destruction of old keys.
///
/// The standing derives it from all reports, and a refold no longer has the old ones. So the event that destroys keys
/// carries it, sealed under the newest key: the live standing and a refold both take it from there.
package struct KeptNewest: Hashable, Sendable {
    /// The newest times of one device.
    package struct Device: Hashable, Sendable {
        package let id: DeviceID
        /// No report of the device is newer than this.
        package let newest: Timestamp?
        /// Its newest usable fix, if its key remains.
        package let usable: UsableFix?
        /// When the last fix that it sent was recorded.
        package let heardAt: Timestamp?
        /// The silences on record since then, in seconds.
        package let silences: [Int64]

        package init(
            id: DeviceID, newest: Timestamp?, usable: UsableFix?, heardAt: Timestamp?,
            silences: [Int64] = []
        ) {
            (self.id, self.newest, self.usable) = (id, newest, usable)
            (self.heardAt, self.silences) = (heardAt, silences)
        }
    }

    /// By number of the device. Never empty.
    package let devices: [Device]
    /// The newest fixes of the person whose keys remain.
    package let newest: NewestFixes

    package init(devices: [Device], newest: NewestFixes) {
        (self.devices, self.newest) = (devices, newest)
    }
}
