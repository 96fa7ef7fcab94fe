import JSON
import Replies
import Testing
import Whereabouts

@testable import Answers
@testable import Service

/// Lists of a person's things, by pages.
@Suite struct RowPageTests {
    @Test func `lists of what is settled come in pages, each item once`() throws {
        let house = try ServiceUnderTest()
        let walker = try house.addPerson("walker")
        _ = try house.addPerson("friend")
        func make(_ list: String, _ body: String) {
            let made = house.send("POST", "/v1/people/walker/\(list)", as: walker, body)
            #expect((200...201).contains(made.status), "\(list): \(made.text)")
        }
        for index in 1...5 {
            make("devices", #"{"handle":"walker.d\#(index)"}"#)
            make("tokens", #"{"scopes":["query"]}"#)
            make("grants", #"{"requester":"friend","precision":"exact"}"#)
            make("invitations", #"{"precision":"city"}"#)
            make("corrections", #"{"type":"split","at":\#(index)}"#)
            make("schedules", #"{"everySeconds":900}"#)
            make("pauses", "{}")
            house.clock.advance(seconds: 60)
            house.send("DELETE", "/v1/people/walker/pauses", as: walker)
            house.clock.advance(seconds: 60)
        }
        for list in ["devices", "tokens", "grants", "invitations", "corrections", "schedules", "pauses"] {
            func get(_ query: String) -> Answer {
                house.send("GET", "/v1/people/walker/\(list)?\(query)", as: walker)
            }
            let all = get("").items.map(\.text)
            #expect(all.count >= 5 && Set(all).count == all.count, "\(list)")
            for limit in [1, 2, all.count] {
                var pages: [[String]] = []
                var after = ""
                repeat {
                    let page = get("limit=\(limit)\(after)")
                    pages.append(page.items.map(\.text))
                    after = page["next"]?.string.map { "&after=\($0)" } ?? ""
                } while !after.isEmpty && pages.count <= all.count
                #expect(pages.flatMap(\.self) == all && pages.count == (all.count + limit - 1) / limit, "\(list)")
            }
            let last = try #require(house.references(of: walker)).name(.max, .row).text
            #expect(get("after=\(last)").items.isEmpty)
            for wrong in ["limit=0", "limit=1001"] { #expect(get(wrong).status == 400) }
            // The log's own numbers are the operator's alone.
            for wrong in ["-1", "x", "1"] { #expect(get("after=\(wrong)").status == 422) }
        }
    }
}

extension JSONValue {
    /// The text that identifies it.
    fileprivate var text: String {
        (members.map(Array.init) ?? []).map { "\($0.key)=\($0.value.string ?? $0.value.double.map { "\($0)" } ?? "")" }
            .joined(separator: " ")
    }
}
