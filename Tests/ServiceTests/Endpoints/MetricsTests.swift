import Foundation
import JSON
import TestSupport
import Testing
import Whereabouts

@testable import Service

/// The figures as Prometheus' parser reads them, compared with the requests made.
@Suite(
    .enabled(
        if: Foreign.hasPython(with: "prometheus_client"), "WHEREABOUTS_PYTHON names no python with prometheus-client"))
struct MetricsTests {
    private struct Sample {
        let type: String
        let name: String
        let labels: [String: String]
        let value: Double
    }

    private static func samples(of house: ServiceUnderTest) throws -> [Sample] {
        let answer = house.manage("GET", "/metrics")
        #expect(answer.header("content-type") == "text/plain; version=0.0.4; charset=utf-8")
        return try Foreign.python(script: "metrics_reference.py", input: answer.text).split(separator: "\n").map {
            line in
            let parts = try JSONDocument.parse(Array(line.utf8)).root.array.map(Array.init) ?? []
            let labels = parts[2].members?.map { ($0.0, $0.1.string ?? "") } ?? []
            return Sample(
                type: parts[0].string ?? "", name: parts[1].string ?? "",
                labels: Dictionary(uniqueKeysWithValues: labels), value: parts[3].double ?? .nan)
        }
    }

    @Test func `what was done is what is counted`() throws {
        let house = try ServiceUnderTest()
        _ = try house.addPerson("walker")
        let friend = try house.addPerson("friend")
        try house.grant("walker", to: "friend")
        let phone = try house.addDevice("walker-phone", of: "walker")
        let asked = house.send(
            "POST", "/v1/people/walker/location-queries", as: friend, #"{"purpose":"to meet"}"#)
        let query = try #require(asked["id"]?.string)
        house.clock.advance(seconds: 2)
        func report(_ latitude: Double, _ more: String = "") -> Answer {
            let time = house.clock.seconds
            return house.send(
                "POST", "/v1/fixes", as: phone,
                #"{"timestamp":\#(time),"latitude":\#(latitude),"longitude":16.37,"horizontalAccuracy":5\#(more)}"#)
        }
        #expect(report(48.2, #","answering":"\#(query)""#).status == 200)
        #expect(report(48.2).status == 200)
        _ = report(95)
        #expect(house.send("GET", "/v1/nowhere", as: friend).status == 404)

        let samples = try Self.samples(of: house)
        func value(_ name: String, _ labels: [String: String] = [:]) -> Double {
            samples.lazy.filter { sample in
                sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
            }.reduce(0) { $0 + $1.value }
        }
        let events = try house.events()
        for (kind, same) in Dictionary(grouping: events, by: \.event.kind.name) {
            #expect(value("whereabouts_events_total", ["kind": kind]) == Double(same.count), "\(kind)")
        }
        #expect(value("whereabouts_events_total") == Double(events.count))
        #expect(value("whereabouts_log_head") == Double(events.count))
        #expect(value("whereabouts_reports_rejected_total", ["reason": "badCoordinate"]) == 1)
        #expect(value("whereabouts_location_queries_ended_total", ["end": "answered"]) == 1)
        #expect(value("whereabouts_location_queries_open") == 0)
        #expect(value("whereabouts_answer_seconds_count") == 1)
        // Asked two seconds before by the house's clock.
        #expect(value("whereabouts_answer_seconds_sum") == 2)
        #expect(value("whereabouts_answer_seconds_bucket", ["le": "1.0"]) == 0)
        #expect(value("whereabouts_answer_seconds_bucket", ["le": "2.5"]) == 1)
        #expect(value("whereabouts_http_request_seconds_count", ["route": "/v1/fixes", "method": "POST"]) == 3)
        #expect(value("whereabouts_http_request_seconds_count", ["route": "", "status": "404"]) == 1)
        #expect(value("whereabouts_commit_seconds_count") > 0)
        #expect(value("process_resident_memory_bytes") > 1e6)
        for histogram in Set(samples.lazy.filter { $0.type == "histogram" && $0.name.hasSuffix("_bucket") }.map(\.name))
        {
            let series = Dictionary(
                grouping: samples.filter { $0.name == histogram },
                by: { $0.labels.filter { $0.key != "le" } })
            for (labels, buckets) in series {
                #expect(buckets.map(\.value) == buckets.map(\.value).sorted(), "\(histogram) \(labels)")
                #expect(buckets.last?.labels["le"] == "+Inf")
            }
        }
    }

    @Test func `a push tells how it ended, and the wait of one that waited why`() throws {
        let here = try Neighbourhood()
        try here.house.grant("walker", to: "friend")
        _ = try here.registerSilentPhone()
        _ = try here.ask()
        try eventually { (try? here.house.events().contains { $0.event.isAccepted }) ?? false }
        _ = try here.ask()
        try eventually { (try? here.house.events().contains { $0.event.isWithheld }) ?? false }
        let pushes = try Self.samples(of: here.house).filter { $0.name == "whereabouts_location_pushes_total" }
        #expect(pushes.count { $0.labels == ["status": "200", "reason": ""] && $0.value == 1 } == 1)
        #expect(pushes.count { $0.labels == ["status": "withheld", "reason": "coalesced"] && $0.value == 1 } == 1)
    }
}

extension Event {
    fileprivate var isAccepted: Bool {
        if case .locationPushAttempted(let attempt) = self { attempt.status == 200 } else { false }
    }
    fileprivate var isWithheld: Bool {
        if case .locationPushAttempted(let attempt) = self { attempt.withheld != nil } else { false }
    }
}
