import JSON
import Testing

@testable import Service

/// The description of the interface against the list of routes; `scripts/interface-test` holds the service to it.
@Suite struct OpenAPITests {
    @Test func `every route says what it takes and answers, and nothing else does`() {
        #expect(Set(Operation.all.keys) == Set(Route.all.map { "\($0.method) \($0.path)" }))
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
        #expect(Set(ids).count == Route.all.count && !ids.contains(""))
    }
}
