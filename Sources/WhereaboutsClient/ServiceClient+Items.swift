import JSON

extension ServiceClient {
    /// A location as it is shown: what the grant hides is absent, and what remains is as coarse as it says.
    public struct Location: Sendable, Equatable {
        public let timestamp: UnixTime
        /// Degrees, WGS 84.
        public let latitude: Double
        /// Degrees, WGS 84.
        public let longitude: Double
        /// Meters, 68 %.
        public let horizontalAccuracy: Double?
        /// Meters above the sea.
        public let altitude: Double?
        /// Meters per second.
        public let speed: Double?
        /// Degrees clockwise from true north.
        public let course: Double?
        /// `exact`, `kilometer` or `city`.
        public let precision: String
        /// What stands there, in the first of the ``ServiceClient/languages`` that has a name for it.
        public let place: Place?

        init?(_ json: JSONValue) {
            guard let timestamp = json["timestamp"]?.double, let latitude = json["latitude"]?.double,
                let longitude = json["longitude"]?.double, let precision = json["precision"]?.string
            else { return nil }
            (self.timestamp, self.latitude, self.longitude) = (timestamp, latitude, longitude)
            (horizontalAccuracy, altitude) = (json["horizontalAccuracy"]?.double, json["altitude"]?.double)
            (speed, course) = (json["speed"]?.double, json["course"]?.double)
            self.precision = precision
            place = json["place"].flatMap { $0.members == nil ? nil : Place($0) }
        }
    }

    /// Names of a place, as `CLPlacemark` calls them; absent where unknown.
    public struct Place: Sendable, Equatable {
        public let name: String?
        public let thoroughfare: String?
        public let subThoroughfare: String?
        public let subLocality: String?
        public let locality: String?
        public let administrativeArea: String?
        public let postalCode: String?
        /// ISO 3166-1, two letters.
        public let isoCountryCode: String?
        public let country: String?
        /// A name of the IANA database.
        public let timeZone: String?

        init(_ json: JSONValue) {
            func text(_ key: String) -> String? { json[key]?.string }
            (name, thoroughfare, subThoroughfare) = (text("name"), text("thoroughfare"), text("subThoroughfare"))
            (subLocality, locality) = (text("subLocality"), text("locality"))
            (administrativeArea, postalCode) = (text("administrativeArea"), text("postalCode"))
            (isoCountryCode, country, timeZone) = (text("isoCountryCode"), text("country"), text("timeZone"))
        }
    }

    /// A stay at one spot.
    public struct Visit: Sendable, Equatable {
        /// The same whenever this visit is told.
        public let id: String
        public let arrival: UnixTime
        /// `nil` while it lasts, as far as is known.
        public let departure: UnixTime?
        /// Degrees, WGS 84.
        public let latitude: Double
        /// Degrees, WGS 84.
        public let longitude: Double
        /// Meters.
        public let horizontalAccuracy: Double
        /// What the spot is called.
        public let place: String?
        /// The clock of the spot, a name of the IANA database.
        public let timeZone: String?

        init?(_ json: JSONValue) {
            guard let id = json["id"]?.string, let arrival = json["arrival"]?.double,
                let latitude = json["latitude"]?.double, let longitude = json["longitude"]?.double,
                let accuracy = json["horizontalAccuracy"]?.double
            else { return nil }
            (self.id, self.arrival, departure) = (id, arrival, json["departure"]?.double)
            (self.latitude, self.longitude, horizontalAccuracy) = (latitude, longitude, accuracy)
            (place, timeZone) = (json["place"]?.string, json["timeZone"]?.string)
        }
    }

    /// A border that was crossed.
    public struct Crossing: Sendable, Equatable {
        /// The id of the region.
        public let region: String
        /// Whether the person came in; otherwise they left.
        public let isEntry: Bool
        public let time: UnixTime
        /// Of who left: how long they had been in.
        public let dwellSeconds: Double?

        init?(_ json: JSONValue) {
            guard let region = json["region"]?.string, let type = json["type"]?.string,
                let time = json["time"]?.double
            else { return nil }
            (self.region, isEntry, self.time) = (region, type == "enter", time)
            dwellSeconds = json["dwellSeconds"]?.double
        }
    }

    /// A reported location, with what `CLLocation` says of it, in its names and units; absent where unknown.
    public struct Fix: Sendable, Equatable {
        public var timestamp: UnixTime
        /// Degrees, WGS 84.
        public var latitude: Double
        /// Degrees, WGS 84.
        public var longitude: Double
        /// Meters, 68 %; negative where the place is not valid.
        public var horizontalAccuracy: Double?
        /// Meters above the sea.
        public var altitude: Double?
        /// Meters; zero or less where the altitude is not valid.
        public var verticalAccuracy: Double?
        /// Meters per second.
        public var speed: Double?
        /// Meters per second.
        public var speedAccuracy: Double?
        /// Degrees clockwise from true north.
        public var course: Double?
        /// Degrees.
        public var courseAccuracy: Double?
        /// The id of the question that it answers, from the push that woke the device.
        public var answering: String?

        public init(timestamp: UnixTime, latitude: Double, longitude: Double, horizontalAccuracy: Double? = nil) {
            (self.timestamp, self.latitude, self.longitude) = (timestamp, latitude, longitude)
            self.horizontalAccuracy = horizontalAccuracy
        }

        init?(_ json: JSONValue) {
            guard let timestamp = json["timestamp"]?.double, let latitude = json["latitude"]?.double,
                let longitude = json["longitude"]?.double
            else { return nil }
            self.init(timestamp: timestamp, latitude: latitude, longitude: longitude)
            for (name, path) in Self.optional { self[keyPath: path] = json[name]?.double }
            answering = json["answering"]?.string
        }

        // Swift 6 does not take it for granted that a key path without captures may be shared.
        private static var optional: [(String, WritableKeyPath<Fix, Double?>)] {
            [
                ("horizontalAccuracy", \.horizontalAccuracy), ("altitude", \.altitude),
                ("verticalAccuracy", \.verticalAccuracy), ("speed", \.speed), ("speedAccuracy", \.speedAccuracy),
                ("course", \.course), ("courseAccuracy", \.courseAccuracy),
            ]
        }

        var isFinite: Bool {
            timestamp.isFinite && latitude.isFinite && longitude.isFinite
                && Self.optional.allSatisfy { self[keyPath: $0.1]?.isFinite ?? true }
        }

        func write(into writer: inout JSONWriter) {
            writer.beginObject()
            writer.field("timestamp", timestamp)
            writer.field("latitude", latitude)
            writer.field("longitude", longitude)
            for (name, path) in Self.optional { writer.field(name, self[keyPath: path]) }
            writer.field("answering", answering)
            writer.endObject()
        }
    }

    /// What became of a report.
    public struct Receipt: Sendable, Equatable {
        /// Fixes that were not known before.
        public let new: Int
        /// How many of ``new`` share device, time and place with another fix and differ from it in something else, for
        /// example in the speed.
        public let twins: Int
        /// Fixes that were known.
        public let duplicate: Int
        /// Fixes that are kept as rejected, and need not be sent again.
        public let rejected: [Rejection]

        init?(_ json: JSONValue) {
            guard let new = json["new"]?.int, let duplicate = json["duplicate"]?.int,
                let rejected = json["rejected"]?.array
            else { return nil }
            (self.new, self.duplicate) = (Int(new), Int(duplicate))
            twins = Int(json["twins"]?.int ?? 0)
            self.rejected = rejected.map { item in
                Rejection(index: Int(item["index"]?.int ?? 0), reason: item["reason"]?.string ?? "")
            }
        }
    }

    /// A fix that cannot be one.
    public struct Rejection: Sendable, Equatable {
        /// Which of those reported, from 0.
        public let index: Int
        /// A word that says why.
        public let reason: String
    }
}
