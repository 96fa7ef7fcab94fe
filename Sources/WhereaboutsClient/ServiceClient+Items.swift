import JSON

extension ServiceClient {
    /// A location as the grant shows it: hidden values are absent, and the others are as coarse as ``precision`` says.
    public struct Location: Sendable, Equatable {
        /// When the device was there, by its clock.
        public let timestamp: UnixTime
        /// Degrees, WGS 84.
        public let latitude: Double
        /// Degrees, WGS 84.
        public let longitude: Double
        /// Meters, the radius with a probability of 68 %.
        public let horizontalAccuracy: Double?
        /// Meters above mean sea level.
        public let altitude: Double?
        /// Meters per second.
        public let speed: Double?
        /// Degrees clockwise from true north.
        public let course: Double?
        /// `exact`, `kilometer` or `city`.
        public let precision: String
        /// The names of the place, in the first of the ``ServiceClient/languages`` that has names for it.
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

    /// The names of a place, with the keys of `CLPlacemark`; absent if unknown.
    public struct Place: Sendable, Equatable {
        /// The name of the place, for example "Favoriten".
        public let name: String?
        /// The street.
        public let thoroughfare: String?
        /// The house number.
        public let subThoroughfare: String?
        /// The district of a city.
        public let subLocality: String?
        /// The city, town or village.
        public let locality: String?
        /// The first-order division, for example a state.
        public let administrativeArea: String?
        /// The postal code.
        public let postalCode: String?
        /// The ISO 3166-1 code of the country, two capital letters.
        public let isoCountryCode: String?
        /// The country's name.
        public let country: String?
        /// The time zone, a name of the IANA database.
        public let timeZone: String?

        init(_ json: JSONValue) {
            func text(_ key: String) -> String? { json[key]?.string }
            (name, thoroughfare, subThoroughfare) = (text("name"), text("thoroughfare"), text("subThoroughfare"))
            (subLocality, locality) = (text("subLocality"), text("locality"))
            (administrativeArea, postalCode) = (text("administrativeArea"), text("postalCode"))
            (isoCountryCode, country, timeZone) = (text("isoCountryCode"), text("country"), text("timeZone"))
        }
    }

    /// A stay at one place.
    public struct Visit: Sendable, Equatable {
        /// The visit's id, the same in every answer.
        public let id: String
        /// When the person arrived.
        public let arrival: UnixTime
        /// When the person left; `nil` while the visit goes on.
        public let departure: UnixTime?
        /// Degrees, WGS 84.
        public let latitude: Double
        /// Degrees, WGS 84.
        public let longitude: Double
        /// Meters.
        public let horizontalAccuracy: Double
        /// The name of the place.
        public let place: String?
        /// The time zone of the place, a name of the IANA database.
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

    /// An entry into a region or an exit from it.
    public struct Crossing: Sendable, Equatable {
        /// The region's id.
        public let region: String
        /// Whether the person entered the region; otherwise they left it.
        public let isEntry: Bool
        /// When the person crossed the border.
        public let time: UnixTime
        /// For an exit: the seconds since the entry, if known.
        public let dwellSeconds: Double?

        init?(_ json: JSONValue) {
            guard let region = json["region"]?.string, let type = json["type"]?.string,
                let time = json["time"]?.double
            else { return nil }
            (self.region, isEntry, self.time) = (region, type == "enter", time)
            dwellSeconds = json["dwellSeconds"]?.double
        }
    }

    /// A reported location with the names and units of `CLLocation`; values are absent if unknown.
    public struct Fix: Sendable, Equatable {
        /// When the device was there, by its clock.
        public var timestamp: UnixTime
        /// Degrees, WGS 84.
        public var latitude: Double
        /// Degrees, WGS 84.
        public var longitude: Double
        /// Meters, the radius with a probability of 68 %; negative if the place is not valid.
        public var horizontalAccuracy: Double?
        /// Meters above mean sea level.
        public var altitude: Double?
        /// Meters; 0 or less if the altitude is not valid.
        public var verticalAccuracy: Double?
        /// Meters per second.
        public var speed: Double?
        /// Meters per second.
        public var speedAccuracy: Double?
        /// Degrees clockwise from true north.
        public var course: Double?
        /// Degrees.
        public var courseAccuracy: Double?
        /// The id of the question that the fix answers, from the push that woke the device.
        public var answering: String?

        /// A fix with the required values; set the others afterwards.
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

        // Swift 6 does not assume that a key path without captures is sendable.
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

    /// The outcome of a report.
    public struct Receipt: Sendable, Equatable {
        /// The number of fixes that were not known before.
        public let new: Int
        /// The number of ``new`` fixes that have the device, time and place of another fix and differ in something
        /// else, for example in the speed.
        public let twins: Int
        /// The number of fixes that were known already.
        public let duplicate: Int
        /// The fixes that are kept as rejected. They need not be sent again.
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

    /// A reported fix that cannot be used.
    public struct Rejection: Sendable, Equatable {
        /// The index of the fix in the report, from 0.
        public let index: Int
        /// The reason, in one word, for example `badCoordinate`.
        public let reason: String
    }
}
