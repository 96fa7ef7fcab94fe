import Glibc
import JSON
import TestSupport
import Testing

@testable import Service

/// The page HTTPReference of the documentation catalog, made from `/openapi.json`.
@Suite struct ReferencePageTests {
    private static let page = "\(Repository.root)/Sources/Whereabouts/Documentation.docc/HTTPReference.md"

    /// With WHEREABOUTS_WRITE=1 the page is written instead.
    @Test func `the reference page says what the interface says of itself`() throws {
        let house = try ServiceUnderTest()
        let document = try #require(house.send("GET", "/openapi.json", as: nil).json)
        let made = ReferencePage(document: document).text
        if getenv("WHEREABOUTS_WRITE") != nil { try write(made.utf8, to: Self.page) }
        let isSame = try contents(ofFile: Self.page) == Array(made.utf8)
        #expect(
            isSame, "HTTPReference.md is old: WHEREABOUTS_WRITE=1 swift test --filter ReferencePageTests writes it.")
    }
}

/// Markdown of a description in OpenAPI 3.1.
private struct ReferencePage {
    let document: JSONValue

    var text: String {
        var lines = [
            "# The HTTP reference", "",
            "Every operation with its parameters, bodies and answers; <doc:HTTP> explains their meaning.", "",
            "## Overview", "",
            "This page is made from `/openapi.json` by `ReferencePageTests`, which fails when the two differ. Credentials are",
            "a bearer token (*token*), Basic with a device's reporting key (*ownTracks*), or are in the message, or are not",
            "needed (*none*). A `?` marks an optional member. Errors are `Problem`, with a status of 400 or more.",
            "",
        ]
        for tag in elements(document["tags"]) {
            let name = tag["name"]?.string ?? ""
            lines += ["## \(name)", ""]
            for (path, item) in members(document["paths"]) {
                for (method, operation) in members(item)
                where elements(operation["tags"]).contains(where: { $0.string == name }) {
                    lines += describe(method, path, operation, elements(item["parameters"]))
                }
            }
        }
        lines += ["## Types", ""]
        for (name, schema) in members(document["components"]?["schemas"]) {
            lines += ["### \(name)", ""]
            if let description = schema["description"]?.string { lines += [description, ""] }
            lines += ["`\(type(schema))`", ""]
        }
        return lines.joined(separator: "\n")
    }

    private func describe(
        _ method: String, _ path: String, _ operation: JSONValue, _ open: [JSONValue]
    ) -> [String] {
        var lines = ["### `\(method.uppercased()) \(path)`", "", operation["summary"]?.string ?? "", ""]
        if let description = operation["description"]?.string, description != operation["summary"]?.string {
            lines += [description, ""]
        }
        let security = elements(operation["security"]).flatMap { members($0).map(\.key) }
        lines.append("- Credentials: \(security.isEmpty ? "none" : security.joined(separator: " or "))")
        for parameter in open + elements(operation["parameters"]) {
            let mark = parameter["required"]?.bool == true ? "" : "?"
            let place = parameter["in"]?.string ?? ""
            let meaning = parameter["description"]?.string.map { " — \($0)" } ?? ""
            lines.append(
                "- `\(parameter["name"]?.string ?? "")\(mark)` (\(place)): `\(type(parameter["schema"]))`\(meaning)")
        }
        for (kind, content) in members(operation["requestBody"]?["content"]) {
            let mark = operation["requestBody"]?["required"]?.bool == true ? "" : "?"
            lines.append("- Body\(mark) (`\(kind)`): `\(type(content["schema"]))`")
        }
        for (status, response) in members(operation["responses"]) where status.hasPrefix("2") {
            let contents = members(response["content"])
            if contents.isEmpty { lines.append("- \(status): nothing") }
            for (kind, content) in contents {
                lines.append("- \(status) (`\(kind)`): `\(type(content["schema"]))`")
            }
        }
        return lines + [""]
    }

    /// A schema in a few words.
    private func type(_ schema: JSONValue?) -> String {
        guard let schema else { return "anything" }
        if let name = schema["$ref"]?.string?.split(separator: "/").last { return String(name) }
        let choices = elements(schema["anyOf"]) + elements(schema["oneOf"])
        let more = elements(schema["allOf"]).map(type)
        if !choices.isEmpty, schema["properties"] == nil { return choices.map(type).joined(separator: " or ") }
        if let words = schema["enum"] { return elements(words).compactMap(\.string).joined(separator: "|") }
        switch schema["type"]?.string {
        case "array":
            let first = elements(schema["prefixItems"]).map(type)
            if !first.isEmpty { return "[\(first.joined(separator: ", "))]" }
            let most = schema["maxItems"]?.int.map { ", at most \($0)" } ?? ""
            return "[\(type(schema["items"]))\(most)]"
        case "object":
            let required = Set(elements(schema["required"]).compactMap(\.string))
            let parts = members(schema["properties"]).map { name, member in
                "\(name)\(required.contains(name) ? "" : "?"): \(type(member))"
            }
            let object = parts.isEmpty && !more.isEmpty ? [] : ["{\(parts.joined(separator: ", "))}"]
            return (more + object).joined(separator: " and ")
        case "integer", "number":
            guard let least = schema["minimum"]?.double, let most = schema["maximum"]?.double, abs(most) < 1e15 else {
                return schema["type"]?.string ?? ""
            }
            return "\(number(least))…\(number(most))"
        case "string": return schema["format"]?.string ?? "text"
        case let word?: return word
        case nil: return more.isEmpty ? "anything" : more.joined(separator: " and ")
        }
    }

    private func number(_ value: Double) -> String { Int64(exactly: value).map { "\($0)" } ?? "\(value)" }
    private func elements(_ value: JSONValue?) -> [JSONValue] { value?.array.map { Array($0) } ?? [] }
    private func members(_ value: JSONValue?) -> [(key: String, value: JSONValue)] {
        value?.members.map { Array($0) } ?? []
    }
}
