import HTTPServer
import JSON
import Log
import Synchronization
import TestSupport
import Testing
import Threading
import Whereabouts

@testable import Projections
@testable import Service
@testable import Tables

/// Another generation of a projection: folded beside the one that answers, compared, switched to and back.
@Suite struct ProjectionSwitchTests {
    /// The visits of an answer, without the fields that differ from one reading to the next.
    private static func told(_ answer: Answer) -> String {
        answer.items.map { "\($0["arrival"]?.double ?? 0) \($0["place"]?.string ?? "")" }.joined(separator: "\n")
    }

    @Test func `a timeline by other rules is built, compared, switched to, back, and thrown away`() throws {
        let village = try Village()
        let house = village.house
        func visits() -> String { Self.told(house.manage("GET", "/v1/people/walker/visits")) }
        village.rebuildTimeline(version: 7)
        house.manage("POST", "/v1/projections/timeline/activate")
        house.manage("POST", "/v1/projections/prune", #"{"name":"timeline"}"#)
        let newer = visits()
        #expect(house.send("POST", "/v1/projections/timeline/activate", as: house.operatorToken).status == 409)
        #expect(house.send("POST", "/v1/projections/timeline/rollback", as: house.operatorToken).status == 409)
        #expect(house.send("GET", "/v1/projections/timeline/diff", as: house.operatorToken).status == 409)
        let wrong = house.send("POST", "/v1/projections/timeline/rebuild", as: house.operatorToken, #"{"version":99}"#)
        #expect(wrong.status == 409)
        #expect(house.send("POST", "/v1/projections/standing/rebuild", as: house.operatorToken).status == 404)

        village.rebuildTimeline()
        #expect(visits() == newer)
        let diff = house.manage("GET", "/v1/projections/timeline/diff")
        #expect(diff["equal"]?.bool == false)
        let rows = diff["rows"]?.array.map(Array.init) ?? []
        let isVisitAdded = rows.contains { $0["table"]?.string == "visit" && $0["change"]?.string == "added" }
        #expect(isVisitAdded, "\(diff.text)")
        // By person and column.
        for row in rows {
            #expect(row["person"]?.string == "walker", "\(row)")
            let columns = row["columns"]?.array.map(Array.init) ?? []
            switch row["change"]?.string {
            case "added": #expect(columns.allSatisfy { $0["old"] == nil } && row["old"] == nil)
            case "removed": #expect(columns.allSatisfy { $0["new"] == nil } && row["new"] == nil)
            default: #expect(columns.allSatisfy { $0["old"]?.string != $0["new"]?.string })
            }
        }
        let visit = rows.first { $0["table"]?.string == "visit" && $0["change"]?.string == "added" }
        let names = (visit?["columns"]?.array.map(Array.init) ?? []).compactMap { $0["name"]?.string }
        #expect(names.contains("departure_ms") && names.contains("fixes"), "\(names)")

        #expect(house.manage("POST", "/v1/projections/timeline/activate")["version"]?.int == 5)
        let older = visits()
        #expect(older.split(separator: "\n").count == newer.split(separator: "\n").count + 1)
        #expect(house.manage("POST", "/v1/projections/timeline/rollback")["version"]?.int == 7)
        #expect(visits() == newer)
        #expect(house.manage("POST", "/v1/projections/prune", #"{"name":"timeline"}"#).items.count == 1)
        #expect(house.manage("GET", "/v1/projections").items.count == ProjectionKind.all.count)

        // Which generation answers outlives the process.
        village.rebuildTimeline()
        house.manage("POST", "/v1/projections/timeline/activate")
        try house.restart()
        #expect(visits() == older)
        house.manage("POST", "/v1/projections/timeline/rollback")
        #expect(visits() == newer)
        #expect(house.manage("GET", "/v1/verify")["ok"]?.bool == true)
    }

    @Test func `a rebuild by the same rules is equal, however large the batches were`() throws {
        let village = try Village()
        let house = village.house
        for name in ProjectionKind.all.map(\.name) {
            house.manage("POST", "/v1/projections/\(name)/rebuild")
            while house.service.host.status.contains(where: \.isLoading) {
                _ = house.service.log.waitForHead(after: house.service.log.head, milliseconds: 5)
            }
            let diff = house.manage("GET", "/v1/projections/\(name)/diff")
            #expect(diff["equal"]?.bool == true, "\(name): \(diff.text.prefix(500))")
        }
    }

    @Test func `all projections are rebuilt by one request, and the background check shows when it compared them`()
        throws
    {
        let village = try Village()
        let house = village.house
        let made = house.manage("POST", "/v1/projections/rebuilds")
        #expect(made.items.compactMap { $0["name"]?.string } == ProjectionKind.all.map(\.name))
        try eventually("the rebuild") {
            let items = house.manage("GET", "/v1/projections").items
            return items.count == 2 * ProjectionKind.all.count && items.allSatisfy { $0["state"]?.string == "ready" }
        }
        for name in ProjectionKind.all.map(\.name) {
            #expect(house.manage("GET", "/v1/projections/\(name)/diff")["equal"]?.bool == true, "\(name)")
        }
        house.service.checker.waitUntilDone()
        let active = house.manage("GET", "/v1/projections").items.filter { $0["role"]?.string == "active" }
        #expect(active.count == ProjectionKind.all.count && active.allSatisfy { $0["checkedAt"] != nil })
        let acts = house.manage("GET", "/v1/events?kind=operatorActed&limit=1000&asStored=true").items
        #expect(acts.count == ProjectionKind.all.count)
        #expect(house.send("POST", "/v1/projections/rebuilds", as: village.tokens[.subject]).status == 404)
    }

    @Test func `answers go on, whole, while generations come and go`() throws {
        let village = try Village()
        let house = village.house
        let newer = Self.told(house.manage("GET", "/v1/people/walker/visits"))
        village.rebuildTimeline()
        house.manage("POST", "/v1/projections/timeline/activate")
        let older = Self.told(house.manage("GET", "/v1/people/walker/visits"))
        #expect(newer != older)

        let isOver = Mutex(false)
        let wrong = Mutex<[String]>([])
        let counts = Mutex((newer: 0, older: 0))
        let reader = try #require(village.tokens[.subject])
        let threads = (0..<4).map { _ in
            WorkerThread {
                while !isOver.withLock({ $0 }) {
                    let answer = house.send("GET", "/v1/people/walker/visits", as: reader)
                    let told = Self.told(answer)
                    if answer.status == 200, told == newer {
                        counts.withLock { $0.newer += 1 }
                    } else if answer.status == 200, told == older {
                        counts.withLock { $0.older += 1 }
                    } else {
                        wrong.withLock { $0.append("\(answer.status) \(answer.text)") }
                    }
                }
            }
        }
        for round in 0..<12 {
            // Another person's fixes arrive all the while, so every generation is being written.
            house.send(
                "POST", "/v1/fixes", as: village.phoneKey,
                #"{"timestamp":\#(1_000_000_000 + round),"latitude":-40,"longitude":100,"horizontalAccuracy":-1}"#)
            switch round % 4 {
            case 0: house.manage("POST", "/v1/projections/timeline/rollback")
            case 1: house.manage("POST", "/v1/projections/prune")
            case 2: village.rebuildTimeline()
            default: house.manage("POST", "/v1/projections/timeline/activate")
            }
        }
        isOver.withLock { $0 = true }
        for thread in threads { thread.join() }
        #expect(wrong.withLock { $0 } == [])
        let seen = counts.withLock { $0 }
        #expect(seen.newer > 0 && seen.older > 0, "\(seen)")
    }
}
