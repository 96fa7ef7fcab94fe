import FileFormats
import JSON
import Whereabouts

/// Regions and corrections of an archive.
extension ImportRun {
    /// Makes those that the service does not have, and counts the others. A region is known by its name, a correction
    /// by all its members.
    ///
    /// - Throws: ``ToolError`` if the service cannot be reached, or refuses one.
    static func restore(
        _ settings: [ArchivedSetting], _ client: Client, _ report: inout ImportReport
    ) throws(ToolError) -> [String] {
        var additions: [String] = []
        let people = Set(settings.map(\.user.text)).sorted()
        guard !people.isEmpty else { return [] }
        let known = Set(try client.items("v1", "people").map { $0.text("handle") })
        for person in people {
            if !known.contains(person) {
                _ = try client.post("v1", "people") { $0.field("handle", person) }
                additions.append("Added the person \(person).")
            }
            for (kind, list) in [(ArchivedSetting.Kind.region, "regions"), (.correction, "corrections")] {
                let wanted = settings.filter { $0.user.text == person && $0.kind == kind }
                guard !wanted.isEmpty else { continue }
                var there = Set(
                    try client.items("v1", "people", person, list).map { identity(of: $0, kind) })
                for setting in wanted {
                    guard let root = try? JSONDocument.parse(setting.request).root,
                        there.insert(identity(of: root, kind)).inserted
                    else {
                        report.knownSettings += 1
                        continue
                    }
                    _ = try client.post("v1", "people", person, list, json: setting.request)
                    report.settings += 1
                }
            }
        }
        return additions
    }

    /// What makes two settings the same one.
    private static func identity(of setting: JSONValue, _ kind: ArchivedSetting.Kind) -> [String] {
        switch kind {
        case .region: [setting.text("id")]
        case .correction:
            ["type", "from", "to", "at", "latitude", "longitude", "name"].map { name in
                setting[name].map { $0.double.map { "\($0)" } ?? $0.string ?? "" } ?? ""
            }
        }
    }
}
