import CSupport
import LocationPush

/// What the service depends on outside itself, for whoever looks whether it is there.
package enum Surroundings {
    /// Seconds by which the system's clock may be off at the most; `nil` when nothing keeps it right.
    package static var clockErrorSeconds: Double? {
        var microseconds = 0
        return clock_is_synchronized(&microseconds) != 0 ? Double(microseconds) / 1e6 : nil
    }

    /// Why no TLS connection to a host with a good certificate comes about; `nil` when one does.
    ///
    /// - Parameter caFile: PEM file of the trusted certificates; nil means the system's own.
    package static func whyUnreachable(host: String, port: Int64, caFile: String?) -> String? {
        guard let port = UInt16(exactly: port) else { return "there is no such port" }
        do throws(TransportFault) {
            try TLSReach.check(host: host, port: port, trustFile: caFile, seconds: 5)
            return nil
        } catch { return error.description }
    }
}
