import Synchronization
package import Whereabouts

/// The time, address and app of each device's last request, and how often its name came with a wrong password.
///
/// Kept in memory since the start. A repeated report makes no event, nor does a refused one, but both help to find out
/// why a phone does not report. The memory is bounded by the number of devices: only existing ones are noted.
package final class DeviceContacts: Sendable {
    /// The last authenticated request of a device.
    package struct Contact: Sendable {
        /// When the request came, by the service's clock.
        package let at: Timestamp
        /// The route's path in the route table, with `*` for its variable parts; `MQTT` for the broker.
        package let address: String
        /// The request's header `User-Agent`, shortened.
        package let userAgent: String?
    }

    /// Requests that named the device with a wrong password, since the start.
    package struct WrongPasswords: Sendable {
        /// The number of such requests.
        package var count: Int64 = 0
        /// When the last of them came.
        package var newestAt: Timestamp
    }

    /// A device's last request, and those with a wrong password.
    private struct Entry {
        var contact: Contact?
        var wrong: WrongPasswords?
    }

    /// By device. They are lost at a restart: contacts are not events.
    private let entries = Mutex<[DeviceID: Entry]>([:])

    /// The characters of `User-Agent` that are kept.
    private static let userAgentCharacters = 120

    package init() {}

    /// Notes an authenticated request of a device.
    package func note(_ device: DeviceID, at now: Timestamp, address: String, userAgent: String? = nil) {
        let shown = userAgent.map { String($0.unicodeScalars.prefix(Self.userAgentCharacters)) }
        let contact = Contact(at: now, address: address, userAgent: shown)
        entries.withLock { $0[device, default: Entry()].contact = contact }
    }

    /// Counts a request that named the device with a wrong password.
    package func noteWrongPassword(of device: DeviceID, at now: Timestamp) {
        entries.withLock { entries in
            var wrong = entries[device]?.wrong ?? WrongPasswords(newestAt: now)
            wrong.count += 1
            wrong.newestAt = now
            entries[device, default: Entry()].wrong = wrong
        }
    }

    /// The last contact of a device since the start; `nil` without one.
    package func contact(of device: DeviceID) -> Contact? { entries.withLock { $0[device]?.contact } }

    /// The requests with a wrong password since the start; `nil` without one.
    package func wrongPasswords(of device: DeviceID) -> WrongPasswords? { entries.withLock { $0[device]?.wrong } }
}
