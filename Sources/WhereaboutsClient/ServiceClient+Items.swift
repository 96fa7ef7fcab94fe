import Replies

extension ServiceClient {
    /// A location as the grant shows it: hidden values are absent, and the others are as coarse as ``precision`` says.
    public struct Location: Sendable, Equatable {
        /// When the device was there, by its clock.
        public let timestamp: UnixTime
        /// Degrees, WGS 84; `nil` if the grant shows names of places alone.
        public let latitude: Double?
        /// Degrees, WGS 84; `nil` if the grant shows names of places alone.
        public let longitude: Double?
        /// Meters, the radius with a probability of 68 %.
        public let horizontalAccuracy: Double?
        /// Meters above mean sea level.
        public let altitude: Double?
        /// Meters per second.
        public let speed: Double?
        /// Degrees clockwise from true north.
        public let course: Double?
        /// `exact`, `kilometer`, `city` or `place`.
        public let precision: String
        /// The names of the place, in the first of the ``ServiceClient/languages`` that has names for it.
        public let place: Place?

        /// `nil` if the place is not in degrees, which this client always asks for.
        init?(_ item: LocationItem) {
            switch item.at {
            case .degrees(let latitude, let longitude)?: (self.latitude, self.longitude) = (latitude, longitude)
            case nil: (latitude, longitude) = (nil, nil)
            case .planar?, .outside?: return nil
            }
            timestamp = item.timestamp.seconds
            (horizontalAccuracy, altitude) = (item.horizontalAccuracy, item.altitude)
            (speed, course) = (item.speed, item.course)
            precision = item.precision
            place = item.place.map { Place($0) }
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

        init(_ item: PlacemarkItem) {
            (name, thoroughfare, subThoroughfare) = (item.name, item.thoroughfare, item.subThoroughfare)
            (subLocality, locality) = (item.subLocality, item.locality)
            (administrativeArea, postalCode) = (item.administrativeArea, item.postalCode)
            (isoCountryCode, country, timeZone) = (item.isoCountryCode, item.country, item.timeZone)
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

        /// `nil` as for ``Location``.
        init?(_ item: VisitItem) {
            guard case .degrees(let latitude, let longitude) = item.at else { return nil }
            (id, arrival, departure) = (item.id, item.arrival.seconds, item.departure?.seconds)
            (self.latitude, self.longitude, horizontalAccuracy) = (latitude, longitude, item.horizontalAccuracy)
            (place, timeZone) = (item.place, item.timeZone)
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

        init(_ item: CrossingItem) {
            (region, isEntry, time) = (item.region, item.type == "enter", item.time.seconds)
            dwellSeconds = item.dwellSeconds
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

        /// `nil` as for ``Location``.
        init?(_ point: TrackPoint) {
            let item = point.fix
            guard case .degrees(let latitude, let longitude) = item.at else { return nil }
            self.init(
                timestamp: item.timestamp.seconds, latitude: latitude, longitude: longitude,
                horizontalAccuracy: item.horizontalAccuracy)
            (altitude, verticalAccuracy) = (item.altitude, item.verticalAccuracy)
            (speed, speedAccuracy) = (item.speed, item.speedAccuracy)
            (course, courseAccuracy) = (item.course, item.courseAccuracy)
            answering = item.answering
        }

        /// The fix as it is sent; `nil` if a number is not finite, or the time is not one of the next 200,000 years.
        var item: FixItem? {
            let details = [
                horizontalAccuracy, altitude, verticalAccuracy, speed, speedAccuracy, course, courseAccuracy,
            ]
            guard latitude.isFinite, longitude.isFinite, details.allSatisfy({ $0?.isFinite ?? true }),
                let moment = Moment(seconds: timestamp)
            else { return nil }
            return FixItem(
                timestamp: moment, at: .degrees(latitude: latitude, longitude: longitude),
                horizontalAccuracy: horizontalAccuracy, altitude: altitude, verticalAccuracy: verticalAccuracy,
                speed: speed, speedAccuracy: speedAccuracy, course: course, courseAccuracy: courseAccuracy,
                answering: answering)
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

        init(_ outcome: ReportOutcome) {
            (new, duplicate, twins) = (Int(outcome.new), Int(outcome.duplicate), Int(outcome.twins ?? 0))
            rejected = outcome.rejected.map { Rejection(index: Int($0.index), reason: $0.reason) }
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
