import FileFormats
import JSON
import Replies
import Whereabouts

/// Regions and corrections of an archive, until the fixes are there.
struct WaitingSettings {
    private var items: [(line: Int, setting: ArchivedSetting)] = []
    private var byteCount = 0

    /// Far more than people have: about ten regions, each of a few hundred bytes.
    private static let countMax = 10_000
    private static let bytesMax = 8 << 20

    var isEmpty: Bool { items.isEmpty }

    /// - Returns: `false` if there are too many.
    mutating func append(_ setting: ArchivedSetting, line: Int) -> Bool {
        guard items.count < Self.countMax, byteCount + setting.request.count <= Self.bytesMax else { return false }
        items.append((line, setting))
        byteCount += setting.request.count
        return true
    }

    /// Makes those that the service does not have, and counts the others. A region is known by its name, a correction
    /// by all its members. One that the service does not accept is rejected, and the next one is tried.
    ///
    /// - Returns: The people who were added, as sentences.
    /// - Throws: ``ToolError`` if the service cannot be reached, or does not allow it.
    func restore(_ client: Client, _ report: inout ImportReport) throws(ToolError) -> [String] {
        var additions: [String] = []
        let people = Set(items.map(\.setting.user.text)).sorted()
        guard !people.isEmpty else { return [] }
        let known = Set(try client.people())
        for person in people {
            if !known.contains(person) {
                _ = try client.post(APIPath.people.parts()) { $0.field("handle", person) }
                additions.append("Added the person \(person).")
            }
            for (kind, path) in [
                (ArchivedSetting.Kind.region, APIPath.peopleRegions), (.correction, .peopleCorrections),
            ] {
                let wanted = items.filter { $0.setting.user.text == person && $0.setting.kind == kind }
                guard !wanted.isEmpty else { continue }
                var there = Set(try client.items(path.parts(person)).map { Self.identity(of: $0, kind) })
                for (line, setting) in wanted {
                    guard let root = try? JSONDocument.parse(setting.request).root,
                        there.insert(Self.identity(of: root, kind)).inserted
                    else {
                        report.knownSettings += 1
                        continue
                    }
                    do throws(ToolError) {
                        _ = try client.post(path.parts(person), json: setting.request)
                        report.settings += 1
                    } catch {
                        // The service understood the request and does not take these values.
                        guard case .usage = error else { throw error }
                        report.reject(RejectionReason.badValue.word, line: line)
                    }
                }
            }
        }
        return additions
    }

    /// The key by which two settings are the same.
    private static func identity(of setting: JSONValue, _ kind: ArchivedSetting.Kind) -> [String] {
        switch kind {
        case .region: [setting.text("id")]
        case .correction:
            [
                "type", "from", "to", "at", "latitude", "longitude", "name", "otherLatitude", "otherLongitude",
            ].map { name in
                setting[name].map { $0.double.map { "\($0)" } ?? $0.string ?? "" } ?? ""
            }
        }
    }
}
