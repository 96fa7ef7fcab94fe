public import Foundation

/// The relevant parts of an app's Info.plist and entitlements.
public struct SimulatedBundle {
    public let identifier: String
    public var infoDictionary: [String: Any]
    public var entitlements: [String: Any]

    public init(identifier: String, infoDictionary: [String: Any] = [:], entitlements: [String: Any] = [:]) {
        (self.identifier, self.infoDictionary, self.entitlements) = (identifier, infoDictionary, entitlements)
    }

    /// Reads the app's own files, XML or binary property lists. The identifier is `CFBundleIdentifier`.
    ///
    /// - Throws: ``SimulatedBundleError`` when one is no property list of a dictionary or names no identifier.
    public init(infoPlist: Data, entitlements: Data? = nil) throws {
        let info = try Self.dictionary(infoPlist, named: "Info.plist")
        guard let identifier = info["CFBundleIdentifier"] as? String, !identifier.isEmpty else {
            throw SimulatedBundleError.noIdentifier
        }
        self.init(
            identifier: identifier, infoDictionary: info,
            entitlements: try entitlements.map { try Self.dictionary($0, named: "The entitlements file") } ?? [:])
    }

    private static func dictionary(_ data: Data, named name: String) throws -> [String: Any] {
        guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil),
            let dictionary = list as? [String: Any]
        else { throw SimulatedBundleError.notADictionary(file: name) }
        return dictionary
    }

    /// Whether there is a purpose string under this key; an empty one counts, as the system shows it.
    func hasPurpose(_ key: String) -> Bool { infoDictionary[key] is String }

    var hasLocationBackgroundMode: Bool {
        (infoDictionary["UIBackgroundModes"] as? [String])?.contains("location") ?? false
    }

    /// Whether sequences deliver only to apps that hold a session. Apple's header and documentation differ in the key.
    var requiresExplicitSession: Bool {
        ["NSLocationRequireExplicitServiceSession", "CLRequireExplicitServiceSession"]
            .contains { infoDictionary[$0] as? Bool ?? false }
    }

    var hasWidgetThatWantsLocation: Bool { infoDictionary["NSWidgetWantsLocation"] as? Bool ?? false }

    var beginsReduced: Bool { infoDictionary["NSLocationDefaultAccuracyReduced"] as? Bool ?? false }

    func hasTemporaryPurpose(_ key: String) -> Bool {
        (infoDictionary["NSLocationTemporaryUsageDescriptionDictionary"] as? [String: Any])?[key] is String
    }
}

/// Why a bundle's files cannot be read.
public enum SimulatedBundleError: Error, Equatable, Sendable, CustomStringConvertible {
    case notADictionary(file: String)
    case noIdentifier

    public var description: String {
        switch self {
        case .notADictionary(let file): "\(file) is no property list of a dictionary."
        case .noIdentifier: "Info.plist has no CFBundleIdentifier."
        }
    }
}
