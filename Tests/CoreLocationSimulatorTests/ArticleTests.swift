// The code of the articles "Test your location push extension in CI" and "From iOS 7 to today" in the documentation
// catalog. `ArticleTests` checks that this file contains each of their blocks, so that their code compiles and is
// correct.

import CoreLocation
import Foundation
import TestProcesses
import TestSupport
import Testing

// MARK: Test your location push extension in CI

final class DinnerExtension: NSObject, CLLocationPushServiceExtension, CLLocationManagerDelegate {
    static let service = URL(string: "https://where.example.org/v1/fixes")
    private let upload: (CLLocation, _ query: String?, _ done: @escaping () -> Void) -> Void
    private var completion: (() -> Void)?
    private var manager: CLLocationManager?
    private var query: String?

    init(upload: @escaping (CLLocation, _ query: String?, _ done: @escaping () -> Void) -> Void) {
        self.upload = upload
    }

    func didReceiveLocationPushPayload(_ payload: [String: Any], completion: @escaping () -> Void) {
        self.completion = completion
        query = payload["query"] as? String
        let manager = CLLocationManager()
        self.manager = manager
        manager.delegate = self
        manager.requestLocation()
    }

    func serviceExtensionWillTerminate() { end() }

    func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
        guard let newest = locations.last else { return }
        upload(newest, query) { [weak self] in self?.end() }
    }

    func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
        // The last fix keeps its own time: the asker must see how old it is.
        guard let last = manager.location else { return end() }
        upload(last, query) { [weak self] in self?.end() }
    }

    private func end() {
        completion?()
        completion = nil
    }
}

final class DinnerApp: NSObject, CLLocationManagerDelegate {
    let manager = CLLocationManager()
    private(set) var token: Data?

    func launch() {
        manager.delegate = self
        manager.requestAlwaysAuthorization()
        manager.startMonitoringLocationPushes { [weak self] token, error in
            // Upload it if it is another one than last time.
            if let token { self?.token = token }
        }
    }
}

final class DinnerAppDelegate: SimulatedApplicationDelegate {
    let app = DinnerApp()
    func applicationDidFinishLaunching(options: [SimulatedLaunchOption: Bool]) { app.launch() }
}

let infoPlist = Data(
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
    <key>CFBundleIdentifier</key><string>org.example.dinner</string>
    <key>NSLocationWhenInUseUsageDescription</key><string>To show you the way.</string>
    <key>NSLocationAlwaysAndWhenInUseUsageDescription</key><string>To tell your friends.</string>
    </dict></plist>
    """.utf8)

let entitlements = Data(
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict>
    <key>aps-environment</key><string>development</string>
    <key>com.apple.developer.location.push</key><true/>
    </dict></plist>
    """.utf8)

@Suite struct DinnerTests {
    final class Uploads { var all: [(fix: CLLocation, query: String?)] = [] }

    /// A phone at one place for an hour, with the app opened once by a user who answers so.
    func phone(
        user: [UserScript.Answer], uploads: Uploads, uploadsSucceed: Bool = true
    ) throws -> (SimulatedDevice, SimulatedApplication) {
        let device = SimulatedDevice(profile: .iOS18, seed: 1)
        let application = device.install(
            try SimulatedBundle(infoPlist: infoPlist, entitlements: entitlements), user: UserScript(user),
            delegate: { DinnerAppDelegate() },
            locationPushExtension: {
                DinnerExtension { fix, query, done in
                    uploads.all.append((fix, query))
                    if uploadsSucceed { done() }
                }
            })
        let home = CLLocationCoordinate2D(latitude: 46.5, longitude: 9.25)
        device.follow(
            try SimulatedItinerary(start: home, legs: [.stay(seconds: 3600)]).track(departure: device.clock.now))
        application.open()
        device.clock.advance(by: 10)
        application.enterBackground()
        device.clock.advance(by: 60)
        return (device, application)
    }

    @Test func `a push brings one fix with its query, within seconds`() throws {
        let uploads = Uploads()
        let (device, application) = try phone(
            user: [.init(.always, .whileUsing), .init(.keepAlways, .always)], uploads: uploads)
        // The first push only brings the system's second question; see "From iOS 7 to today".
        application.receiveLocationPush(["query": "first"])
        device.clock.advance(by: 60)
        application.receiveLocationPush(["query": "second"])
        device.clock.advance(by: 5)
        #expect(uploads.all.map(\.query) == ["second"])
        #expect(device.callbackLog.lines(containing: " completed").count == 1)
    }

    @Test func `an upload that hangs is cut off`() throws {
        let uploads = Uploads()
        let (device, application) = try phone(
            user: [.init(.always, .whileUsing), .init(.keepAlways, .always)], uploads: uploads, uploadsSucceed: false)
        application.receiveLocationPush([:])
        device.clock.advance(by: 60)
        application.receiveLocationPush([:])
        device.clock.advance(by: 31)
        // serviceExtensionWillTerminate called the completion, so the system need not kill it.
        #expect(device.callbackLog.lines(containing: " willTerminate").count == 1)
        #expect(device.callbackLog.lines(containing: " killed").isEmpty)
    }

    @Test func `without Always there is no answer, and nothing tells the server`() throws {
        let uploads = Uploads()
        let (device, application) = try phone(user: [.init(.always, .dontAllow)], uploads: uploads)
        application.receiveLocationPush([:])
        device.clock.advance(by: 60)
        #expect(uploads.all.isEmpty)
        #expect(device.callbackLog.lines(containing: "push dropped: authorization 2").count == 1)
    }
}

// MARK: From iOS 7 to today

final class MapApp: NSObject, CLLocationManagerDelegate, SimulatedApplicationDelegate {
    let manager = CLLocationManager()

    func applicationDidFinishLaunching(options: [SimulatedLaunchOption: Bool]) {
        manager.delegate = self
        // Before iOS 8 the method is not there, and starting asks by itself.
        if manager.responds(to: Selector(("requestWhenInUseAuthorization"))) {
            manager.requestWhenInUseAuthorization()
        }
        manager.startUpdatingLocation()
    }
}

@Suite struct AuthorizationHistoryTests {
    @Test(arguments: [
        (SimulationProfile.iOS7, Prompt.authorization, CLAuthorizationStatus.authorizedAlways),
        (.iOS8, .whenInUse, .authorizedWhenInUse), (.iOS18, .whenInUse, .authorizedWhenInUse),
    ])
    func `one app asks rightly on every system`(
        profile: SimulationProfile, prompt: Prompt, status: CLAuthorizationStatus
    ) throws {
        let device = SimulatedDevice(profile: profile)
        let application = device.install(
            SimulatedBundle(
                identifier: "org.example.map",
                infoDictionary: ["NSLocationWhenInUseUsageDescription": "To show you on the map."]),
            user: UserScript([.init(prompt, .whileUsing)]), delegate: { MapApp() })
        application.open()
        device.clock.advance(by: 5)
        #expect(application.run { CLLocationManager().authorizationStatus } == status)
    }

    @Test func `without the purpose string nothing is asked, and the log says which one is missing`() throws {
        let device = SimulatedDevice(profile: .iOS18)
        let application = device.install(
            SimulatedBundle(identifier: "org.example.map"), user: UserScript([.init(.whenInUse, .whileUsing)]),
            delegate: { MapApp() })
        application.open()
        device.clock.advance(by: 60)
        #expect(application.run { CLLocationManager().authorizationStatus } == .notDetermined)
        #expect(device.callbackLog.lines(containing: "NSLocationWhenInUseUsageDescription").count == 1)
    }
}

/// The code of the articles is the code above.
@Suite struct ArticleTests {
    private static let root = URL(fileURLWithPath: Repository.root)

    /// A separate package that depends on this one as the article describes. Its files import Core Location only.
    @Test(
        .enabled(
            if: isLongForm,
            "A package outside builds its dependencies anew, which takes minutes: WHEREABOUTS_LONG=1."))
    func `a file that says import CoreLocation compiles unchanged in a package outside`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dinner-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let sources = folder.appendingPathComponent("Sources/Dinner")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        let article = "TestYourLocationPushExtension"
        let manifest = try #require(try Repository.blocks(of: article, "swift Package.swift").first)
            .replacingOccurrences(of: "../whereabouts", with: Self.root.path)
            .replacingOccurrences(of: "\"whereabouts\"", with: "\"\(Self.root.lastPathComponent)\"")
        let dinner = try #require(
            try Repository.blocks(of: article).first { $0.contains("CLLocationPushServiceExtension") })
        let names = Self.root.appendingPathComponent("Tests/CoreLocationSimulatorTests/AppleNames.swift")
        try "import CoreLocation\n\n\(dinner)"
            .write(to: sources.appendingPathComponent("Extension.swift"), atomically: true, encoding: .utf8)
        try FileManager.default.copyItem(at: names, to: sources.appendingPathComponent("AppleNames.swift"))
        for mode in [5, 6] {
            try manifest.replacingOccurrences(of: "\n    ])\n", with: "\n    ], swiftLanguageModes: [.v\(mode)])\n")
                .write(to: folder.appendingPathComponent("Package.swift"), atomically: true, encoding: .utf8)
            let build = Process()
            build.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            build.arguments = ["swift", "build", "--package-path", folder.path, "--quiet"]
            try build.runBounded()
            build.waitUntilExit()
            #expect(build.terminationStatus == 0, "Swift \(mode)")
        }
    }

    @Test(arguments: ["TestYourLocationPushExtension", "FromiOS7ToToday"])
    func `every block of an article stands in this file`(article: String) throws {
        let code = try String(contentsOfFile: #filePath, encoding: .utf8)
        let blocks = try Repository.blocks(of: article)
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(code.contains(block), "\(block)") }
    }
}
