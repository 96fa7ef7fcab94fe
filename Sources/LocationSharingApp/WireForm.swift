internal import CoreLocation
internal import Foundation

/// Core Location's values as the service's JSON: field names are Core Location's, times are Unix seconds.
enum WireForm {
    /// `POST /v1/fixes`.
    static func fixes(_ locations: [CLLocation], answering query: String? = nil) throws -> Outbox.Message {
        let body = try encode(Fixes(fixes: locations.map { Fix($0, answering: query) }))
        return Outbox.Message(kind: .fixes, path: "/v1/fixes", body: body, query: query)
    }

    /// `POST /v1/envelopes`, with a body that the app's sealing made.
    static func envelopes(_ body: Data, query: String? = nil) -> Outbox.Message {
        Outbox.Message(kind: .envelopes, path: "/v1/envelopes", body: body, query: query)
    }

    /// `POST /v1/reports`.
    static func report(_ report: Report, query: String? = nil) throws -> Outbox.Message {
        Outbox.Message(
            kind: .reports, path: "/v1/reports", body: try encode(Reports(reports: [report])), query: query)
    }

    /// `PUT /v1/devices/{device}/location-push-token`. The token goes as lower-case hex, as in APNs' path.
    static func token(_ token: Data, _ account: ServiceAccount) throws -> Outbox.Message {
        let hex = token.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return Outbox.Message(
            kind: .token, method: "PUT", path: "/v1/devices/\(account.device)/location-push-token",
            body: try encode(Token(hex: hex, environment: account.environment, bundleID: account.bundleID)))
    }

    /// Encodes with sorted keys, so that the same message has the same bytes in every run.
    private static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        // Otherwise the order of keys may differ between runs.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    private struct Fixes: Encodable { let fixes: [Fix] }
    private struct Reports: Encodable { let reports: [Report] }
    private struct Token: Encodable { let hex, environment, bundleID: String }

    /// Every field of a `CLLocation`. Core Location's −1 for an invalid value is kept.
    private struct Fix: Encodable {
        struct Source: Encodable { let isSimulatedBySoftware, isProducedByAccessory: Bool }

        let timestamp, latitude, longitude, horizontalAccuracy, altitude, ellipsoidalAltitude, verticalAccuracy: Double
        let course, courseAccuracy, speed, speedAccuracy: Double
        let floor: Int?
        let sourceInformation: Source?
        /// The query id from the push; `nil` for a fix that answers no query.
        let answering: String?

        init(_ location: CLLocation, answering: String?) {
            timestamp = location.timestamp.timeIntervalSince1970
            (latitude, longitude) = (location.coordinate.latitude, location.coordinate.longitude)
            horizontalAccuracy = location.horizontalAccuracy
            (altitude, ellipsoidalAltitude) = (location.altitude, location.ellipsoidalAltitude)
            verticalAccuracy = location.verticalAccuracy
            (course, courseAccuracy) = (location.course, location.courseAccuracy)
            (speed, speedAccuracy) = (location.speed, location.speedAccuracy)
            floor = location.floor?.level
            sourceInformation = location.sourceInformation.map {
                Source(
                    isSimulatedBySoftware: $0.isSimulatedBySoftware, isProducedByAccessory: $0.isProducedByAccessory)
            }
            self.answering = answering
        }
    }

    /// A report that is not a fix. Fields of other types are absent.
    struct Report: Encodable {
        let type: String
        let timestamp: Double
        var status: String?
        var accuracy: Accuracy?
        var latitude, longitude, horizontalAccuracy, arrival, departure: Double?
        var region, crossing: String?
        var magneticHeading, trueHeading, headingAccuracy: Double?
        var uuid: String?
        var major, minor, proximity, rssi: Int?

        /// The field `accuracy`: the authorized accuracy (`full` or `reduced`) of an authorization report, and the
        /// accuracy of a beacon's distance in meters.
        enum Accuracy: Encodable {
            case authorization(String)
            case meters(Double)

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .authorization(let word): try container.encode(word)
                case .meters(let meters): try container.encode(meters)
                }
            }
        }

        private init(_ type: String, _ date: Date) {
            (self.type, timestamp) = (type, date.timeIntervalSince1970)
        }

        static func authorization(of manager: CLLocationManager, at date: Date) -> Report {
            var report = Report("authorization", date)
            report.status =
                switch manager.authorizationStatus {
                case .restricted: "restricted"
                case .denied: "denied"
                case .authorizedAlways: "authorizedAlways"
                case .authorizedWhenInUse: "authorizedWhenInUse"
                default: "notDetermined"
                }
            report.accuracy = .authorization(manager.accuracyAuthorization == .fullAccuracy ? "full" : "reduced")
            return report
        }

        /// An arrival or departure date that Core Location does not know is absent.
        static func visit(_ visit: CLVisit, at date: Date) -> Report {
            var report = Report("visit", date)
            (report.latitude, report.longitude) = (visit.coordinate.latitude, visit.coordinate.longitude)
            report.horizontalAccuracy = visit.horizontalAccuracy
            if visit.arrivalDate != .distantPast { report.arrival = visit.arrivalDate.timeIntervalSince1970 }
            if visit.departureDate != .distantFuture { report.departure = visit.departureDate.timeIntervalSince1970 }
            return report
        }

        static func heading(_ heading: CLHeading) -> Report {
            var report = Report("heading", heading.timestamp)
            report.magneticHeading = heading.magneticHeading
            (report.trueHeading, report.headingAccuracy) = (heading.trueHeading, heading.headingAccuracy)
            return report
        }

        /// A beacon that was not received since the last report has an accuracy of −1.
        static func beacon(_ beacon: CLBeacon) -> Report {
            var report = Report("beacon", beacon.timestamp)
            report.uuid = beacon.uuid.uuidString.lowercased()
            (report.major, report.minor) = (beacon.major.intValue, beacon.minor.intValue)
            (report.proximity, report.rssi) = (beacon.proximity.rawValue, beacon.rssi)
            report.accuracy = .meters(beacon.accuracy)
            return report
        }

        static func crossing(_ region: CLRegion, isEntry: Bool, at date: Date) -> Report {
            var report = Report("crossing", date)
            (report.region, report.crossing) = (region.identifier, isEntry ? "enter" : "exit")
            return report
        }
    }
}
