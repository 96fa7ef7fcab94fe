import Foundation
import JSON
import PushStandIn
import TestProcesses
import TestSupport
import Testing

@testable import Reactors
@testable import Service

/// The service's messages to its operator while things go wrong: written for the journal, and about no person.
@Suite struct DiagnosticsTests {
    private static let purpose = "an unmistakable purpose"

    @Test(.enabled(if: Repository.tool != nil, "whereabouts was not built beside the tests"))
    func `diagnostics are lines with a priority, and name no person, place, purpose or secret`() throws {
        // A person to search for, and things that will go wrong: a damaged projection, and a push server that is not
        // there.
        let folder = TemporaryFolder()
        let standIn = try PushStandIn(PushStandIn.Configuration(directory: folder.file("stand-in")))
        let push = ServiceUnderTest.push(over: standIn)
        let house = try ServiceUnderTest(clock: .running, push: [])
        let walker = try house.addPerson("unmistakable")
        let friend = try house.addPerson("recognisable")
        let phone = try house.addDevice("peculiar-phone", of: "unmistakable")
        try house.grant("unmistakable", to: "recognisable")
        let operatorToken = house.operatorToken
        house.stop()
        // A new one is made, and is not for the journal.
        try FileManager.default.removeItem(atPath: house.directory + "/admin.token")
        let files = try FileManager.default.contentsOfDirectory(atPath: house.directory + "/projections")
        for file in files where file.hasPrefix("timeline") || file.hasPrefix("standing") {
            try Data("no database".utf8).write(to: URL(filePath: "\(house.directory)/projections/\(file)"))
        }
        try """
        {"push":{"host":"localhost","port":1,"caFile":"\(push.caFile ?? "")","teamID":"\(push.teamID)",
        "keyID":"\(push.keyID)","keyFile":"\(push.keyFile)","bundleIDs":["org.example"],"environment":"development"}}
        """.write(toFile: house.directory + "/config.json", atomically: true, encoding: .utf8)

        let process = Process()
        process.executableURL = URL(filePath: try #require(Repository.tool))
        process.arguments = ["serve", "--data", house.directory, "--listen", "127.0.0.1:0"]
        // As systemd says to a process whose standard error is the journal's.
        process.environment = ProcessInfo.processInfo.environment.merging(["JOURNAL_STREAM": "8:1"]) { $1 }
        let (said, complained) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (said, complained)
        try process.runBounded()
        var output = ""
        while !output.contains("http://127.0.0.1:") {
            let data = said.fileHandleForReading.availableData
            try #require(!data.isEmpty)
            output += String(decoding: data, as: UTF8.self)
        }
        let address = try #require(output.firstMatch(of: /http:\/\/127\.0\.0\.1:([0-9]+)/))
        let client = SocketClient(port: try #require(Int(address.1)))
        let now = Int(Date().timeIntervalSince1970)
        let token = #"{"hex":"00112233445566778899","environment":"development","bundleID":"org.example"}"#
        #expect(try client.send("PUT", "/v1/devices/peculiar-phone/location-push-token", as: phone, token).status < 300)
        let fix = #"{"timestamp":\#(now),"latitude":47.1234567,"longitude":-122.7654321}"#
        #expect(try client.send("POST", "/v1/fixes", as: phone, fix).status == 200)
        try client.send("POST", "/v1/fixes", as: phone, #"{"timestamp":1,"latitude":91.7654321,"longitude":1}"#)
        try client.send("POST", "/v1/fixes", as: phone, "{" + fix)
        try client.send("GET", "/osmand?id=\(phone)&lat=47.1234567&lon=x", as: nil)
        try client.send("GET", "/v1/people/unmistakable/location", as: "wp_wrongandpeculiar")
        let asked = try client.send(
            "POST", "/v1/people/unmistakable/location-queries", as: friend,
            #"{"purpose":"\#(Self.purpose)","maxAgeSeconds":0,"deadlineSeconds":5}"#)
        #expect(asked.status == 202)
        // Until the pusher has tried and failed, and the deadline has passed.
        let url = "\(try #require(asked["url"]?.string))?wait=30"
        try eventually("the end of the question") {
            try client.send("GET", url, as: friend)["status"]?.string != "pending"
        }
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        output += String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let newToken = try String(contentsOfFile: house.directory + "/admin.token", encoding: .utf8)
        #expect(newToken.hasPrefix("wo_") && !output.contains("wo_"))
        let text = String(decoding: complained.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)

        // The last line answers the person who pressed Ctrl-C.
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("Stopping:") }
        #expect(lines.contains { $0.contains("projection.refold") || $0.contains("standing.refold") }, "\(text)")
        for line in lines { #expect(line.prefixMatch(of: /<[0-7]>[a-z]+(\.[a-z]+)?: [^ ]/) != nil, "\(line)") }
        for personal in [
            "unmistakable", "recognisable", "peculiar", "47.12", "122.76", "471234567", "91.76", Self.purpose,
            "00112233445566778899", walker, friend, phone, operatorToken,
        ] { #expect(!text.contains(personal), "\(personal)") }
    }
}
