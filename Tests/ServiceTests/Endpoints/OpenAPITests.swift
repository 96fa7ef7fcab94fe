import JSON
import Log
import Replies
import TestSupport
import Testing

@testable import Answers
@testable import HTTPInterface
@testable import Service

/// The description of the interface against the list of routes; `scripts/dev/interface-test` holds the service to it.
@Suite struct OpenAPITests {
    @Test func `no two routes have the same method and path`() {
        let names = RouteTable.all.routes.map { "\($0.method) \($0.path)" }
        #expect(Set(names).count == names.count && names.count > 120)
    }

    /// Some generators drop an operation with an object that has no name, or the members beside an `allOf`.
    @Test func `every object of the interface is a named schema`() throws {
        let house = try ServiceUnderTest()
        let document = try #require(house.send("GET", "/openapi.json", as: nil).json)
        let schemas = document["components"]?["schemas"]?.members.map(Array.init) ?? []
        let names = schemas.map(\.key)
        #expect(Set(names).count == names.count && names.count > 100)
        #expect(names.allSatisfy { $0.wholeMatch(of: /[A-Z][A-Za-z0-9]*/) != nil })

        func check(_ value: JSONValue, _ path: String, isNamed: Bool = false) {
            if let reference = value["$ref"]?.string, reference.hasPrefix("#/components/schemas/") {
                #expect(names.contains(String(reference.dropFirst("#/components/schemas/".count))), "\(path)")
            }
            #expect(value["allOf"] == nil, "\(path)")
            if !isNamed, value["type"]?.string == "object",
                let properties = value["properties"]?.members.map(Array.init)
            {
                #expect(properties.isEmpty, "\(path)")
            }
            let members = value.members.map(Array.init) ?? []
            for (key, member) in members { check(member, path + "/" + key) }
            for element in value.array.map(Array.init) ?? [] { check(element, path + "/…") }
        }
        check(try #require(document["paths"]), "paths")
        for (name, schema) in schemas { check(schema, name, isNamed: true) }
    }

    @Test func `the answer of every JSON type has a schema that allows objects`() throws {
        let house = try ServiceUnderTest()
        let document = try #require(house.send("GET", "/openapi.json", as: nil).json)
        func members(_ value: JSONValue?) -> [(key: String, value: JSONValue)] { value?.members.map(Array.init) ?? [] }
        var types: Set<String> = []
        for (path, item) in members(document["paths"]) {
            for (method, operation) in members(item) {
                for (status, answer) in members(operation["responses"]) {
                    for (type, content) in members(answer["content"]) where type.hasSuffix("json") {
                        #expect(content["schema"]?["type"]?.string != "string", "\(method) \(path) \(status) \(type)")
                        types.insert("\(path) \(type)")
                    }
                }
            }
        }
        #expect(types.contains("/v1/people/{person}/exports/{form} application/geo+json") && types.count > 50)
    }

    /// The schema of a fix is shared with reports, so it is not made from the declaration.
    @Test func `the fixes of a track have the members that the interface describes`() throws {
        let house = try ServiceUnderTest()
        let document = try #require(house.send("GET", "/openapi.json", as: nil).json)
        let schema = try #require(document["components"]?["schemas"]?["TrackFix"]?["properties"]?.members)
        let declared = MemberLister.members(of: TrackPoint.self).flatMap { member in
            member.presence == .place ? ["latitude", "longitude", "x", "y"] : [member.name]
        }
        #expect(Set(schema.map(\.key)) == Set(declared))
    }

    @Test func `every open place of a path has a name, and every operation one of its own`() throws {
        let house = try ServiceUnderTest()
        let document = try #require(house.send("GET", "/openapi.json", as: nil).json)
        #expect(document["openapi"]?.string == "3.1.0")
        let paths = try #require(document["paths"]?.members.map(Array.init))
        var ids: [String] = []
        for (path, item) in paths {
            let open = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
            #expect(open.allSatisfy { !$0.isEmpty } && Set(open).count == open.count, "\(path)")
            let named = item["parameters"]?.array?.compactMap { $0["name"]?.string } ?? []
            #expect(named == open, "\(path)")
            let members = item.members.map(Array.init) ?? []
            for (method, operation) in members where method != "parameters" {
                ids.append(operation["operationId"]?.string ?? "")
            }
        }
        #expect(Set(ids).count == RouteTable.all.operations.count && !ids.contains(""))
    }

    @Test func `every operation has a description of its own, and every JSON body and answer an example`() throws {
        let house = try ServiceUnderTest()
        let document = try #require(house.send("GET", "/openapi.json", as: nil).json)
        var count = 0
        for (path, item) in members(document["paths"]) {
            for (method, operation) in members(item) where method != "parameters" {
                let name = "\(method) \(path)"
                let words = operation["description"]?.string ?? ""
                #expect(!words.isEmpty && words != operation["summary"]?.string, "\(name)")
                let answers = members(operation["responses"])
                for (status, response) in answers where status.hasPrefix("2") {
                    #expect(response["headers"]?["Whereabouts-Request"] != nil, "\(name)")
                    if status == "202" { #expect(response["headers"]?["Location"] != nil, "\(name)") }
                }
                for content in [operation["requestBody"]] + answers.map(\.value) {
                    guard let medium = content?["content"]?["application/json"] else { continue }
                    #expect(medium["example"] != nil, "\(name)")
                    count += 1
                }
            }
        }
        #expect(count > 100)
    }

    @Test func `links name operations, their parameters, and members of the answer`() throws {
        let house = try ServiceUnderTest()
        let document = try #require(house.send("GET", "/openapi.json", as: nil).json)
        let paths = members(document["paths"])
        var parameters: [String: Set<String>] = [:]
        for (_, item) in paths {
            let open = item["parameters"]?.array?.compactMap { $0["name"]?.string } ?? []
            for (method, operation) in members(item) where method != "parameters" {
                let own = operation["parameters"]?.array?.compactMap { $0["name"]?.string } ?? []
                parameters[operation["operationId"]?.string ?? ""] = Set(open + own)
            }
        }
        func properties(_ schema: JSONValue?) -> Set<String> {
            var schema = schema
            if let reference = schema?["$ref"]?.string?.split(separator: "/").last {
                schema = document["components"]?["schemas"]?[String(reference)]
            }
            return Set(members(schema?["properties"]).map(\.key))
        }
        var names: Set<String> = []
        for (path, item) in paths {
            let open = item["parameters"]?.array?.compactMap { $0["name"]?.string } ?? []
            for (method, operation) in members(item) where method != "parameters" {
                for (status, response) in members(operation["responses"]) {
                    let answer = properties(response["content"]?["application/json"]?["schema"])
                    for (name, link) in members(response["links"]) {
                        let place = "\(method) \(path) \(status) \(name)"
                        names.insert(name)
                        let target = try #require(parameters[link["operationId"]?.string ?? ""], "\(place)")
                        let given = members(link["parameters"])
                        #expect(!given.isEmpty && given.allSatisfy { target.contains($0.key) }, "\(place)")
                        for (_, value) in given {
                            let from = value.string ?? ""
                            let isKnown =
                                from.hasPrefix("$request.path.")
                                ? open.contains(String(from.dropFirst("$request.path.".count)))
                                : from.hasPrefix("$response.body#/")
                                    && answer.contains(String(from.dropFirst("$response.body#/".count)))
                            #expect(isKnown, "\(place): \(from)")
                        }
                    }
                }
            }
        }
        #expect(names.isSuperset(of: ["next", "getLocationQueriesOne", "deleteGrantsOne"]))
    }

    @Test func `a request without the body that the description requires is refused, and nothing is recorded`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let key = try house.addDevice("walker-phone", of: "walker")
        let query = "6b1c2d3e-4f50-4a61-8b72-93a4b5c6d7e8"
        let person = try house.token(of: "walker")
        let before = house.service.log.head
        var count = 0
        for operation in RouteTable.all.operations where operation.route.needsBody {
            let route = operation.route
            var open = PathParameter.of(route).map(\.name)[...]
            let values = ["person": "walker", "device": "walker-phone", "key": key, "query": query, "import": query]
            let target = route.pattern.map { $0 == "*" ? values[open.popFirst() ?? ""] ?? "1" : $0 }
            let token =
                switch operation.access {
                case .reportingKey, .ownTracks: key
                default: operation.group == .reports ? key : person
                }
            // µlogger's app has its key in the body, and later in a cookie.
            let answer = house.send(
                route.method, "/" + target.joined(separator: "/"), as: token, headers: [("Cookie", "ulogger=\(key)")])
            #expect(answer.status == 400, "\(route.method) \(route.path)")
            #expect(answer["type"]?.string == "urn:problem-type:bad-request")
            count += 1
        }
        #expect(count > 20 && house.service.log.head == before)
    }

    @Test func `every type of problem in the sources is in the table of HTTP.md, and no other`() throws {
        let pattern = /(?:Problem\(|\.problem\(|self\.init\()\s*[\w.]+,\s*(?:title:\s*)?"([^"]+)"/
        var types: Set<String> = []
        let folders = [
            "HTTPServer", "Answers", "Maintenance", "Reactors", "HTTPInterface", "ReportEndpoints", "PersonEndpoints",
            "HouseEndpoints", "Readers", "Shards",
            "WebPage", "Service",
        ]
        for folder in folders {
            for file in sources(below: "\(Repository.root)/Sources/\(folder)") {
                let text = String(decoding: try contents(ofFile: file), as: UTF8.self)
                for match in text.matches(of: pattern) {
                    types.insert(match.1.lowercased().split(separator: " ").joined(separator: "-"))
                }
            }
        }
        let page = String(
            decoding: try contents(ofFile: "\(Repository.root)/Sources/Whereabouts/Documentation.docc/HTTP.md"),
            as: UTF8.self)
        let rows = try #require(page.firstRange(of: "| `type` | Status | Meaning |\n|---|---|---|\n"))
        var listed: [String] = []
        for row in page[rows.upperBound...].split(separator: "\n") where row.hasPrefix("|") {
            let cell = row.split(separator: "|").first ?? ""
            listed += cell.matches(of: /`([a-z-]+)`/).map { String($0.1) }
        }
        #expect(Set(listed).count == listed.count)
        #expect(Set(listed) == types)
    }

    private func members(_ value: JSONValue?) -> [(key: String, value: JSONValue)] {
        value?.members.map { Array($0) } ?? []
    }

    private func sources(below folder: String) -> [String] {
        names(in: folder).flatMap { name in
            name.hasSuffix(".swift") ? ["\(folder)/\(name)"] : sources(below: "\(folder)/\(name)")
        }
    }
}
