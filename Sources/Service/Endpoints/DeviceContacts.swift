import Synchronization
import Whereabouts

/// When each device was last heard of, by which address and app, and how often its name came with a wrong password.
///
/// Held in memory since the start: a report that is known already makes no event, and neither does one that is refused, but
/// whoever looks for what is wrong with a phone wants to know of both.
final class DeviceContacts: Sendable {
    struct Contact: Sendable {
        let at: Timestamp
        /// The address as it stands in the table of routes, without what is open in it; `MQTT` for the broker.
        let address: String
        /// What the app calls itself in the header `User-Agent`.
        let userAgent: String?
    }

    struct WrongPasswords: Sendable {
        var count: Int64 = 0
        var newestAt: Timestamp
    }

    private struct Entry {
        var contact: Contact?
        var wrong: WrongPasswords?
    }

    private let entries = Mutex<[DeviceID: Entry]>([:])

    /// Characters of an app's name for itself.
    private static let userAgentCharacters = 120

    func note(_ device: DeviceID, at now: Timestamp, address: String, userAgent: String? = nil) {
        let shown = userAgent.map { String($0.unicodeScalars.prefix(Self.userAgentCharacters)) }
        let contact = Contact(at: now, address: address, userAgent: shown)
        entries.withLock { $0[device, default: Entry()].contact = contact }
    }

    /// Somebody named the device and showed a password that is not its own.
    func noteWrongPassword(of device: DeviceID, at now: Timestamp) {
        entries.withLock { entries in
            var wrong = entries[device]?.wrong ?? WrongPasswords(newestAt: now)
            wrong.count += 1
            wrong.newestAt = now
            entries[device, default: Entry()].wrong = wrong
        }
    }

    func contact(of device: DeviceID) -> Contact? { entries.withLock { $0[device]?.contact } }

    func wrongPasswords(of device: DeviceID) -> WrongPasswords? { entries.withLock { $0[device]?.wrong } }
}
