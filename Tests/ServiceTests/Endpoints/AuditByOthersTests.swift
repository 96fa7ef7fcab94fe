import JSON
import Log
import TestSupport
import Testing

@testable import Service

/// The audit without the person's own reads.
@Suite struct AuditByOthersTests {
    private static func audit(
        _ village: Village, _ query: String, limit: Int, pages: inout Int
    ) throws -> [JSONValue] {
        var entries: [JSONValue] = []
        var after = ""
        repeat {
            let target =
                "/v1/people/walker/audit?limit=\(limit)\(query)&at-least=\(village.house.service.log.head)\(after)"
            // On a busy machine the projection may need longer than a request waits.
            let page = try eventually("the page") {
                let page = village.house.send("GET", target, as: village.tokens[.subject])
                return page.status == 503 ? nil : page
            }
            #expect(page.status == 200)
            pages += 1
            entries += page.items
            after = page["next"]?.string.map { "&after=\($0)" } ?? ""
        } while !after.isEmpty
        return entries
    }

    private static func isOwnRead(_ entry: JSONValue) -> Bool {
        entry["kind"]?.string == "read" && entry["verdict"]?.string == "own"
    }

    private static func name(_ entry: JSONValue) -> String {
        "\(entry["kind"]?.string ?? "") \(entry["number"]?.string ?? "") \(entry["at"]?.double ?? 0)"
    }

    @Test func `the list by others is the audit without own reads, in fewer pages`() throws {
        let village = try Village(shortStop: 120)
        for _ in 0..<12 {
            _ = village.house.send("GET", "/v1/people/walker/visits", as: village.tokens[.subject])
        }
        #expect(village.house.send("GET", "/v1/people/walker/visits", as: village.tokens[.oldFriend]).status == 200)
        for _ in 0..<12 {
            _ = village.house.send("GET", "/v1/people/walker/places", as: village.tokens[.subject])
        }
        var (allPages, pages) = (0, 0)
        let all = try Self.audit(village, "", limit: 5, pages: &allPages)
        let others = try Self.audit(village, "&by=others", limit: 5, pages: &pages)
        #expect(all.contains { Self.isOwnRead($0) })
        #expect(others.contains { $0["kind"]?.string == "read" && $0["verdict"]?.string == "granted" })
        #expect(others.map(Self.name) == all.filter { !Self.isOwnRead($0) }.map(Self.name))
        #expect(pages < allPages - 3)
        // Both reads are on record: the next full list has them.
        var ignored = 0
        let next = try Self.audit(village, "", limit: 100, pages: &ignored)
        let reads = next.filter { Self.isOwnRead($0) && $0["question"]?.string == "audit" }
        #expect(reads.count == allPages + pages)
    }

    @Test func `another value is refused with a sentence`() throws {
        let village = try Village(shortStop: 120)
        let answer = village.house.send("GET", "/v1/people/walker/audit?by=me", as: village.tokens[.subject])
        #expect(answer.status == 400)
        #expect(answer["detail"]?.string == "\"by\" must be \"others\", which leaves out the person's own reads.")
    }
}
