import JSON
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// The end of a question by an asker with a precision of a kilometer, and the information in the time of that end.
@Suite struct CoarseQuestionStoryTests {
    private struct Scene {
        let house: ServiceUnderTest
        let phone, friend: String
        let url: String
        let asked: Timestamp

        /// Asked at 08:14:00 with 300 s; the phone was seen 40 s before.
        init(precision: String = "kilometer") throws {
            house = try ServiceUnderTest()
            _ = try house.addPerson("walker")
            phone = try house.addDevice("walker-phone", of: "walker")
            friend = try house.addPerson("friend")
            try house.grant("walker", to: "friend", precision: precision)
            house.clock.advance(seconds: 14 * 60 - 40)
            Self.report(house, phone)
            house.clock.advance(seconds: 40)
            asked = house.clock.now
            let answer = house.send(
                "POST", "/v1/people/walker/location-queries", as: friend,
                #"{"purpose":"late for dinner","maxAgeSeconds":0,"deadlineSeconds":300}"#)
            url = try #require(answer["url"]?.string)
        }

        static func report(_ house: ServiceUnderTest, _ phone: String, _ more: String = "") {
            house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(house.clock.seconds),"latitude":48.2006,"longitude":16.3698\#(more)}"#)
        }

        func report(after seconds: Int64, _ more: String = "") {
            house.clock.set(asked.adding(seconds: seconds))
            Self.report(house, phone, more)
        }

        var status: String? { house.send("GET", url, as: friend)["status"]?.string }

        /// The true end, once it is on record.
        func end() throws -> QueryEnd {
            try eventually("the question's end") {
                for event in try house.events() {
                    if case .locationQueryEnded(_, let end, _) = event.event { return end }
                }
                return nil
            }
        }
    }

    @Test func `a report that nobody asked for answers in the question's last second`() throws {
        let scene = try Scene()
        // 08:16: in the next quarter, so that it may be seen.
        scene.report(after: 120)
        #expect(scene.status == "pending")
        scene.house.clock.set(scene.asked.adding(seconds: 298))
        #expect(scene.status == "pending")
        scene.house.clock.set(Timestamp(milliseconds: scene.asked.milliseconds + 299_500))
        #expect(try scene.end() == .answered)
        let answer = scene.house.send("GET", scene.url, as: scene.friend)
        #expect(answer["status"]?.string == "answered")
        #expect(answer["location"]?["timestamp"]?.int == scene.asked.milliseconds / 1000 + 60)
    }

    @Test func `a report of which nothing can be seen answers nothing`() throws {
        let scene = try Scene()
        scene.report(after: 50)
        scene.house.clock.set(Timestamp(milliseconds: scene.asked.milliseconds + 299_500))
        #expect(scene.status == "pending")
        scene.house.clock.set(scene.asked.adding(seconds: 301))
        #expect(scene.status == "noAnswer")
        #expect(try scene.end() == .timedOut)
    }

    /// The answer at the deadline does not change later.
    @Test func `what would have answered is too late at the deadline`() throws {
        let scene = try Scene()
        scene.report(after: 120)
        scene.house.clock.set(scene.asked.adding(seconds: 300))
        #expect(scene.status == "noAnswer")
        #expect(try scene.end() == .timedOut)
        #expect(scene.status == "noAnswer")
    }

    @Test func `the phone's own answer ends it at once`() throws {
        let scene = try Scene()
        let id = String(try #require(scene.url.split(separator: "/").last))
        scene.report(after: 20, #","answering":"\#(id)""#)
        #expect(scene.status == "answered")
    }

    @Test func `an exact question ends by any report`() throws {
        let scene = try Scene(precision: "exact")
        scene.report(after: 20)
        #expect(scene.status == "answered")
    }
}
