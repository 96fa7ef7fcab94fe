import CSupport
import LocationPush

/// Checks of the service's external dependencies, for `doctor`.
package enum Surroundings {
    /// The greatest error of the system's clock in seconds; `nil` if the clock is not synchronized.
    package static var clockErrorSeconds: Double? {
        var microseconds = 0
        return clock_is_synchronized(&microseconds) != 0 ? Double(microseconds) / 1e6 : nil
    }

    /// Why a TLS connection to a host with a valid certificate fails; `nil` if it succeeds.
    ///
    /// - Parameter caFile: A PEM file of the trusted certificates; `nil` means the system's.
    package static func whyUnreachable(host: String, port: Int64, caFile: String?) -> String? {
        guard let port = UInt16(exactly: port) else { return "port \(port) is not from 0 to 65535" }
        do throws(TransportFault) {
            try TLSReach.check(host: host, port: port, trustFile: caFile, seconds: 5)
            return nil
        } catch { return error.description }
    }
}
