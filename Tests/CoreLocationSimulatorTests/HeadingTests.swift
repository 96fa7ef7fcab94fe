import CoreLocation
import TestSupport
import Testing

@testable import CoreLocationSimulator

/// An app with a compass.
private final class CompassApp: NSObject, CLLocationManagerDelegate, SimulatedApplicationDelegate, @unchecked Sendable {
    let manager = CLLocationManager()
    var headings: [CLHeading] = []
    var errors: [any Error] = []
    var mayCalibrate = false
    private let configure: (CLLocationManager) -> Void

    init(_ configure: @escaping (CLLocationManager) -> Void) { self.configure = configure }

    func applicationDidFinishLaunching(options: [SimulatedLaunchOption: Bool]) {
        manager.delegate = self
        configure(manager)
        manager.startUpdatingHeading()
    }

    func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
        headings.append(newHeading)
    }
    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) { errors.append(error) }
    func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool { mayCalibrate }
}

@Suite struct HeadingTests {
    private func scene(
        hardware: SimulatedHardware = .phone, _ configure: @escaping (CLLocationManager) -> Void = { _ in }
    ) -> ModernScene<CompassApp> {
        ModernScene(hardware: hardware) { _ in CompassApp(configure) }
    }

    @Test func `H1 given a filter of 5°, when the device turns once around, then 72 headings come, 5° apart`() {
        let scene = scene { $0.headingFilter = 5 }
        scene.application.open()
        scene.device.turn(by: 360, degreesPerSecond: 1)
        scene.advance(400)
        let headings = scene.app.headings.map(\.magneticHeading)
        #expect((71...73).contains(headings.count))
        for (last, next) in zip(headings, headings.dropFirst()) {
            #expect((4.99...5.2).contains((next - last + 360).truncatingRemainder(dividingBy: 360)))
        }
        // It lies still: no more of them.
        scene.advance(100)
        #expect(scene.app.headings.count == headings.count)
    }

    /// Expected: PyPI pygeomag 1.1.0, WMM-2025, 80 m, 2026.89, as the project's specification of Core Location lists.
    @Test(arguments: [
        (52.52048, 13.40578, 5.197), (37.3349, -122.009, 12.668), (-33.87, 151.21, 12.830), (64.15, -21.94, -11.018),
    ])
    func `H2 declination is the published model's`(latitude: Double, longitude: Double, declination: Double) throws {
        // 2026.89 is 0.89 of 365 days into the year.
        let date = Date(timeIntervalSince1970: 1_767_225_600 + 0.89 * 365 * 86_400)
        let place = CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
        let field = try #require(WorldMagneticModel().field(at: place, ellipsoidalHeight: 80, on: date))
        #expect(abs(field.declination - declination) < 0.01)
    }

    @Test(.enabled(if: MagneticReference.isAvailable, "WHEREABOUTS_PYTHON names no python with pygeomag"))
    func `H2 the field is pygeomag's at 1,000 random places and times`() throws {
        var random = SeededNoise(seed: 2025, purpose: 0)
        let questions = (0..<1000).map { _ in
            [
                asin(Double.random(in: -1...1, using: &random)) * 180 / .pi,
                Double.random(in: -180...180, using: &random), Double.random(in: 0...9, using: &random),
                Double.random(in: 2025...2029.999, using: &random),
            ]
        }
        let answers = try MagneticReference.answers(to: questions)
        try #require(answers.count == questions.count)
        let model = WorldMagneticModel()
        for (question, answer) in zip(questions, answers) {
            let place = CLLocationCoordinate2D(latitude: question[0], longitude: question[1])
            let field = try #require(
                model.field(at: place, ellipsoidalHeight: question[2] * 1000, on: date(of: question[3])))
            let turned = abs(field.declination - answer[0])
            #expect(min(turned, 360 - turned) < 0.01, "\(question)")
            #expect(abs(field.north - answer[1]) < 1 && abs(field.east - answer[2]) < 1, "\(question)")
            #expect(abs(field.down - answer[3]) < 1, "\(question)")
        }
    }

    private func date(of year: Double) -> Date {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let begin = calendar.date(from: DateComponents(year: Int(year)))!
        let end = calendar.date(from: DateComponents(year: Int(year) + 1))!
        return begin + (year - year.rounded(.down)) * end.timeIntervalSince(begin)
    }

    @Test func `H2 given a date the model is not made for, then one line says so`() throws {
        for (year, lines) in [(2024.9, 1), (2026.0, 0), (2031.0, 1)] {
            let device = SimulatedDevice(clock: SimulatedClock(start: date(of: year)))
            let application = device.install(
                SimulatedBundle(identifier: "org.example.app", infoDictionary: Scene.purposes)
            ) { CompassApp { _ in } }
            application.changeInSettings(.authorizedWhenInUse)
            application.open()
            device.follow(
                try SimulatedItinerary(start: home, legs: [.stay(seconds: 5)]).track(departure: device.clock.now))
            device.clock.advance(by: 10)
            #expect(device.callbackLog.lines(containing: "the magnetic model is for 2025 to 2030").count == lines)
        }
    }

    /// Expected: Foundation's calendar.
    @Test func `H2 a date is its year and the part of it gone by`() {
        for year in [1969.5, 1970, 1999.999, 2000, 2024, 2024.5, 2025, 2027.25, 2028.9999, 2030, 2100, 2101] {
            #expect(abs(date(of: year).decimalYear - year) < 1e-7)
        }
    }

    @Test func `H2 the pole and the antimeridian have a field`() throws {
        let model = WorldMagneticModel()
        let date = date(of: 2026)
        for latitude in [-90.0, 90] {
            let field = try #require(model.field(at: .init(latitude: latitude, longitude: 30), on: date))
            #expect(field.horizontal.isFinite && abs(field.down) > 50_000)
        }
        let (east, west) = (
            model.field(at: .init(latitude: 10, longitude: 180), on: date),
            model.field(at: .init(latitude: 10, longitude: -180), on: date)
        )
        #expect(abs((east?.declination ?? 0) - (west?.declination ?? 1)) < 1e-9)
        #expect(model.field(at: kCLLocationCoordinate2DInvalid, on: date) == nil)
    }

    @Test func `H3 given no location, then the true heading is negative, the magnetic one is not`() throws {
        let scene = scene()
        scene.application.open()
        scene.device.turn(by: -90)
        try scene.follow([.stay(seconds: 10)])
        scene.advance(5)
        #expect(!scene.app.headings.isEmpty)
        #expect(scene.app.headings.allSatisfy { $0.trueHeading < 0 && $0.magneticHeading >= 0 })
        // At home the declination is some degrees east, so a compass reads less than 270° towards the west.
        let unauthorized = try #require(scene.app.headings.last)
        #expect((264...268).contains(unauthorized.magneticHeading))
        scene.application.changeInSettings(.authorizedWhenInUse)
        scene.advance(5)
        let known = try #require(scene.app.headings.last)
        #expect(abs(known.trueHeading - 270) < 0.01)
        // Towards the west the field, which points north, comes from the right.
        #expect(known.x > 15 && abs(known.y) < 3 && known.z < -30)
        #expect(abs((known.x * known.x + known.y * known.y + known.z * known.z).squareRoot() - 48) < 2)
    }

    @Test func `a heading is of the edge that is up, and flat orientations change nothing`() throws {
        for (orientation, expected) in [
            (CLDeviceOrientation.landscapeLeft, 90.0), (.portraitUpsideDown, 180), (.landscapeRight, 270), (.faceUp, 0),
        ] {
            let scene = scene { $0.headingOrientation = orientation }
            scene.application.open()
            scene.advance(1)
            #expect(scene.app.headings.map(\.magneticHeading) == [expected])
        }
    }

    @Test func `without a magnetometer there is no heading, and in the background none comes`() throws {
        let blind = scene(hardware: [.gps, .wifi])
        blind.application.open()
        blind.advance(1)
        #expect(blind.app.headings.isEmpty && blind.app.errors.map(code) == [3])
        #expect(blind.application.run { !CLLocationManager.headingAvailable() })
        let scene = scene()
        scene.application.open()
        scene.advance(1)
        scene.application.enterBackground()
        scene.device.turn(by: 90)
        scene.advance(5)
        #expect(scene.app.headings.count == 1 && scene.application.run { CLLocationManager.headingAvailable() })
        scene.application.open()
        scene.advance(1)
        #expect(scene.app.headings.map(\.magneticHeading) == [0, 90])
    }

    @Test func `near a magnet the heading is invalid until the compass is calibrated, if the app lets it`() {
        for lets in [true, false] {
            let scene = scene()
            scene.application.open()
            scene.app.mayCalibrate = lets
            scene.advance(1)
            scene.device.isMagneticallyDisturbed = true
            scene.advance(60)
            #expect(scene.count("shouldDisplayHeadingCalibration") == 1)
            #expect(
                scene.app.headings.map { $0.headingAccuracy < 0 } == (lets ? [false, true, false] : [false, true]))
        }
    }
}

/// pygeomag, where it is installed.
private enum MagneticReference {
    static let isAvailable = Foreign.hasPython(with: "pygeomag")

    static func answers(to questions: [[Double]]) throws -> [[Double]] {
        let input = questions.map { $0.map { "\($0)" }.joined(separator: " ") + "\n" }.joined()
        return try Foreign.python(script: "magnetic_reference.py", input: input).split(separator: "\n").map { line in
            line.split(separator: " ").map { Double($0) ?? .nan }
        }
    }
}
