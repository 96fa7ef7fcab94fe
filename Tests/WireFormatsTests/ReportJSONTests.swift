import JSON
import Replies
import Testing
import Whereabouts

@testable import WireFormats

@Suite struct ReportJSONTests {
    private func reports(_ items: String) -> [Report] {
        ReportJSON.reports(from: Array(#"{"reports":[\#(items)]}"#.utf8), now: now)
    }

    @Test(
        "every status of Core Location is read by its own name",
        arguments: zip(
            ["notDetermined", "restricted", "denied", "authorizedAlways", "authorizedWhenInUse"],
            [AuthorizationStatus.notDetermined, .restricted, .denied, .authorizedAlways, .authorizedWhenInUse]))
    func status(word: String, status: AuthorizationStatus) throws {
        let report = try only(
            reports(#"{"type":"authorization","timestamp":"2026-01-01T00:00:00.5Z","status":"\#(word)"}"#))
        let time = Timestamp(milliseconds: 1_767_225_600_500)
        #expect(report == .authorization(AuthorizationReport(timestamp: time, status: status, accuracy: nil)))
    }

    @Test func `what is written is read back`() throws {
        let report = AuthorizationReport(
            timestamp: Timestamp(milliseconds: 1_767_225_600_001), status: .denied, accuracy: .reduced)
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("type", "authorization")
        writer.members(of: AuthorizationItem(report))
        writer.endObject()
        #expect(try only(reports(String(decoding: writer.bytes, as: UTF8.self))) == .authorization(report))
    }

    @Test func `one bad report leaves the others`() {
        let all = reports(
            """
            {"type":"authorization","timestamp":1767225600,"status":"denied"},
            {"type":"horoscope","timestamp":1767225600}, 7,
            {"type":"authorization","timestamp":1767225601,"status":"authorizedAlways","accuracy":null,"new":[1]}
            """)
        #expect(all.count == 4)
        #expect(all[1] == .rejected(.unknownType) && all[2] == .rejected(.unknownType))
        guard case .authorization(let last) = all[3] else {
            Issue.record("This is an authorization.")
            return
        }
        #expect(last.status == .authorizedAlways && last.accuracy == nil)
    }

    @Test(arguments: [
        (#"{"type":"authorization","status":"denied"}"#, RejectionReason.missingField),
        (#"{"type":"authorization","timestamp":1767225600}"#, .missingField),
        (#"{"type":"authorization","timestamp":1767225600,"status":"Denied"}"#, .badValue),
        (#"{"type":"authorization","timestamp":1767225600,"status":3}"#, .badValue),
        (#"{"type":"authorization","timestamp":1767225600,"status":"denied","accuracy":"some"}"#, .badValue),
        (#"{"type":"authorization","timestamp":"noon","status":"denied"}"#, .badTimestamp),
        (#"{"type":"authorization","timestamp":1,"status":"denied"}"#, .badTimestamp),
        (#"{"type":"authorization","timestamp":"2030-01-02T00:00:00.001Z","status":"denied"}"#, .inTheFuture),
        (#"{"timestamp":1767225600}"#, .unknownType),
    ])
    func `what cannot be read is rejected with its reason`(item: String, reason: RejectionReason) throws {
        #expect(try only(reports(item)) == .rejected(reason))
    }

    @Test func `a body of another form comes to one rejection`() throws {
        for (body, reason) in [("{", RejectionReason.notJSON), ("[]", .unknownType), (#"{"fixes":[]}"#, .unknownType)] {
            #expect(try only(ReportJSON.reports(from: Array(body.utf8), now: now)) == .rejected(reason))
        }
        #expect(reports("").isEmpty)
        let many = Array(repeating: "{}", count: Limits.batchCommands + 1).joined(separator: ",")
        #expect(try only(reports(many)) == .rejected(.tooLarge))
        #expect(reports(Array(repeating: "{}", count: Limits.batchCommands).joined(separator: ",")).count == 1000)
    }
}
