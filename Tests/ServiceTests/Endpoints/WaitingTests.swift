import HTTPServer
import JSON
import Synchronization
import Testing

@testable import Service

/// Whoever waits must not keep others from being answered.
@Suite struct WaitingTests {
    @Test func `followers of the log leave threads for those who ask`() throws {
        let house = try ServiceUnderTest()
        let head = house.service.log.head
        let statuses = Monitor<[Int]>([])
        for _ in 0..<8 {
            house.send("GET", "/v1/events?after=\(head)&wait=30", as: house.operatorToken) { response in
                statuses.change { $0.append(response.status) }
            }
        }
        // Answered while they wait: all that has come before is the word that there are too many.
        #expect(house.send("GET", "/v1/projections", as: house.operatorToken).status == 200)
        #expect(statuses.read { $0.allSatisfy { $0 == 503 } })
        house.manage("POST", "/v1/people", #"{"handle":"somebody"}"#)
        let all = statuses.wait { $0.count == 8 ? $0 : nil }
        #expect(all?.count { $0 == 200 } == 2)
    }

    @Test func `what the log does not have is not waited for`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        let answer = house.send("GET", "/v1/people/walker/location?at-least=\(Int64.max)", as: walker)
        #expect(answer.status == 503)
        #expect(answer.header("Retry-After") != nil)
        #expect(
            house.send("GET", "/v1/people/walker/location?at-least=\(house.service.log.head)", as: walker).status == 200
        )
    }

    @Test func `two verifications at once do not get in each other's way`() throws {
        let village = try Village()
        let results = Monitor<[Bool]>([])
        for _ in 0..<3 {
            village.house.send("GET", "/v1/verify", as: village.house.operatorToken) { response in
                let isGood = Answer(response)["ok"]?.bool == true
                results.change { $0.append(isGood) }
            }
        }
        #expect(results.wait { $0.count == 3 ? $0 : nil } == [true, true, true])
    }
}
