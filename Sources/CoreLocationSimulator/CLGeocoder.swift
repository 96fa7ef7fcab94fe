public import Foundation
internal import Gazetteer
internal import Geodesy
internal import Whereabouts

/// The placemarks of a request, or why there are none.
public typealias CLGeocodeCompletionHandler = ([CLPlacemark]?, (any Error)?) -> Void

/// Names coordinates and finds names, one request at a time, from the device's ``SimulatedDevice/geocoding``.
///
/// Each app has so many requests a minute; beyond them, and on a device without names, requests fail as without a
/// network. Names are in the language of the file, whatever locale is preferred.
///
/// `geocodePostalAddress` is left out: its argument is the Contacts framework's `CNPostalAddress`, which Linux does not
/// have.
open class CLGeocoder: NSObject, @unchecked Sendable {
    // Sendable: the one variable is touched only under the clock's lock.
    private let application: SimulatedApplication
    private let launch: Int
    private var current: Request?

    /// - Precondition: made by an app's code, which the simulation runs.
    public override init() {
        guard let application = SimulatedApplication.current else {
            preconditionFailure("A geocoder is made by an app's code: use SimulatedApplication.run.")
        }
        self.application = application
        launch = application.launch
    }

    open var isGeocoding: Bool { application.locked { current != nil } }

    /// Looks up the placemark of a location. A second request fails while the first is in progress.
    open func reverseGeocodeLocation(_ location: CLLocation, completionHandler: @escaping CLGeocodeCompletionHandler) {
        ask(handler: completionHandler) { device, geocoding in
            guard let place = location.coordinate.place else { return .failure(CLError(.geocodeFoundNoResult)) }
            let found = geocoding.gazetteer.placemark(at: place, using: device.transform).speaking(geocoding.english)
            guard found.name != nil else { return .failure(CLError(.geocodeFoundNoResult)) }
            return .success([CLPlacemark(found, at: location)])
        }
    }

    /// The same; the locale changes nothing.
    open func reverseGeocodeLocation(
        _ location: CLLocation, preferredLocale locale: Locale?, completionHandler: @escaping CLGeocodeCompletionHandler
    ) {
        reverseGeocodeLocation(location, completionHandler: completionHandler)
    }

    open func reverseGeocodeLocation(_ location: CLLocation) async throws -> [CLPlacemark] {
        try await withUnsafeThrowingContinuation { continuation in
            // Unsafe, because with the app's process its continuations are gone, too.
            reverseGeocodeLocation(location) { placemarks, error in
                continuation.resume(with: placemarks.map { .success($0) } ?? .failure(error ?? CLError(.network)))
            }
        }
    }

    open func reverseGeocodeLocation(_ location: CLLocation, preferredLocale: Locale?) async throws -> [CLPlacemark] {
        try await reverseGeocodeLocation(location)
    }

    /// The places a name may mean, the likeliest first, in as many languages as the file knows. A name that only begins
    /// so, or is misspelled, is a partial result, which is an error.
    open func geocodeAddressString(_ addressString: String, completionHandler: @escaping CLGeocodeCompletionHandler) {
        geocodeAddressString(addressString, in: nil, completionHandler: completionHandler)
    }

    /// The same, those within the region first.
    open func geocodeAddressString(
        _ addressString: String, in region: CLRegion?, completionHandler: @escaping CLGeocodeCompletionHandler
    ) {
        let circle = region as? CLCircularRegion
        ask(handler: completionHandler) { device, geocoding in
            let found = geocoding.gazetteer.places(named: addressString)
            guard !found.isEmpty else { return .failure(CLError(.geocodeFoundNoResult)) }
            let exact = found.filter { $0.match == .exact }
            guard !exact.isEmpty else { return .failure(CLError(.geocodeFoundPartialResult)) }
            let placemarks = exact.map { place in
                CLPlacemark(
                    geocoding.gazetteer.placemark(of: place, using: device.transform).speaking(geocoding.english),
                    at: CLLocation(
                        latitude: place.place.coordinate.latitude, longitude: place.place.coordinate.longitude))
            }
            let (near, far) = placemarks.reduce(into: ([CLPlacemark](), [CLPlacemark]())) { parts, placemark in
                let isNear = placemark.location.map { circle?.contains($0.coordinate) ?? true } ?? false
                if isNear { parts.0.append(placemark) } else { parts.1.append(placemark) }
            }
            return .success(near + far)
        }
    }

    open func geocodeAddressString(
        _ addressString: String, in region: CLRegion?, preferredLocale locale: Locale?,
        completionHandler: @escaping CLGeocodeCompletionHandler
    ) {
        geocodeAddressString(addressString, in: region, completionHandler: completionHandler)
    }

    open func geocodeAddressString(
        _ addressString: String, in region: CLRegion? = nil, preferredLocale: Locale? = nil
    ) async throws -> [CLPlacemark] {
        try await withUnsafeThrowingContinuation { continuation in
            geocodeAddressString(addressString, in: region) { placemarks, error in
                continuation.resume(with: placemarks.map { .success($0) } ?? .failure(error ?? CLError(.network)))
            }
        }
    }

    /// Fails the request under way.
    open func cancelGeocode() { application.locked { end(current, .failure(CLError(.geocodeCanceled))) } }

    // MARK: Requests

    /// One request, distinguished from others by identity.
    private final class Request {
        let handler: CLGeocodeCompletionHandler
        init(_ handler: @escaping CLGeocodeCompletionHandler) { self.handler = handler }
    }

    private func ask(
        handler: @escaping CLGeocodeCompletionHandler,
        _ answer: @escaping (SimulatedDevice, SimulatedGeocoding) -> Result<[CLPlacemark], CLError>
    ) {
        application.locked {
            let device = application.device
            let request = Request(handler)
            guard current == nil else {
                device.clock.after(0) { [self] in tell(request, .failure(CLError(.geocodeCanceled))) }
                return
            }
            current = request
            let isWithinLimit = application.mayGeocode()
            device.clock.after(application.profile.geocodeSeconds) { [self] in
                guard current === request else { return }
                guard isWithinLimit, let geocoding = device.geocoding else {
                    return end(request, .failure(CLError(.network)))
                }
                end(request, answer(device, geocoding))
            }
        }
    }

    private func end(_ request: Request?, _ result: Result<[CLPlacemark], CLError>) {
        guard let request, current === request else { return }
        current = nil
        tell(request, result)
    }

    private func tell(_ request: Request, _ result: Result<[CLPlacemark], CLError>) {
        application.whenRunning(launch) { [application] in
            switch result {
            case .success(let placemarks):
                application.device.write(application.bundle.identifier, "geocoded \(placemarks[0].name ?? "-")")
                request.handler(placemarks, nil)
            case .failure(let error):
                application.device.write(application.bundle.identifier, "geocoding failed \(error.code.rawValue)")
                request.handler(nil, error)
            }
        }
    }
}

extension SimulatedApplication {
    /// Whether one more request of this minute is let through; counts those that are.
    func mayGeocode() -> Bool {
        let now = device.clock.moment
        geocoded.removeAll { now.seconds(since: $0) >= 60 }
        guard geocoded.count < profile.geocodesPerMinute else { return false }
        geocoded.append(now)
        return true
    }

    /// Does something as code of this process: now, when it runs again, or never when it has ended.
    func whenRunning(_ process: Int, _ body: @escaping () -> Void) {
        guard process == launch, !state.isDead else { return }
        if state.isRunning {
            Self.$current.withValue(self, operation: body)
        } else {
            afterSuspension.append(body)
        }
    }
}
