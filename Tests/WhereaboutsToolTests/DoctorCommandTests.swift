import Glibc
import JSON
import PushStandIn
import Service
import TestSupport
import Testing

@testable import WhereaboutsTool

/// `doctor` over a data directory whose surroundings are good, and bad.
@Suite struct DoctorCommandTests {
    private let folder: TemporaryFolder
    private let standIn: PushStandIn

    init() throws {
        folder = TemporaryFolder()
        standIn = try PushStandIn(PushStandIn.Configuration(directory: folder.path + "/stand-in"))
        try House.open(folder.path + "/state").stop()
    }

    /// The findings with these settings: state and details by check, and the exit code.
    private func findings(port: UInt16, publicURL: String) throws -> (
        checks: [String: (String, String)], exitCode: Int32
    ) {
        let credentials = standIn.credentials
        _ = try folder.write(
            """
            {"publicURL":"\(publicURL)","push":{"host":"localhost","port":\(port),"caFile":"\(credentials.trustFile)",
            "teamID":"\(credentials.teamID)","keyID":"\(credentials.keyID)","keyFile":"\(credentials.providerKeyFile)",
            "bundleIDs":["org.example.app"],"environment":"development"}}
            """, to: "state/config.json")
        let found = whereabouts("--data", folder.path + "/state", "doctor", "--json")
        let checks = try json(found.results)["checks"]?.array.map(Array.init) ?? []
        return (
            Dictionary(
                checks.map { ($0.text("check"), ($0.text("state"), $0.text("details"))) }, uniquingKeysWith: { $1 }),
            found.exitCode
        )
    }

    @Test func `a push server with a good certificate is good, one that is not there is wrong, and says what to do`()
        throws
    {
        let good = try findings(port: standIn.port, publicURL: "http://where.example.org")
        #expect(good.checks["push server"]?.0 == "good")
        #expect(good.checks["TLS in front"]?.0 == "wrong")
        #expect(good.exitCode == 1)
        let bad = try findings(port: 1, publicURL: "http://where.example.org")
        #expect(bad.checks["push server"]?.0 == "wrong")
        #expect(bad.checks["push server"]?.1.contains("Connection refused; allow TCP to port 1") == true)
    }

    /// The stand-in's authority is none that this computer trusts.
    @Test func `a certificate of an unknown authority before the service is wrong`() throws {
        let found = try findings(port: standIn.port, publicURL: "https://localhost:\(standIn.port)/path")
        #expect(found.checks["TLS in front"]?.0 == "wrong")
        #expect(found.checks["TLS in front"]?.1.contains("TLS: ") == true)
        #expect(found.exitCode == 1)
    }

    @Test func `an address without a port is asked at the port of https`() throws {
        for host in ["[::1]", "127.0.0.1"] {
            let found = try findings(port: standIn.port, publicURL: "https://\(host)/").checks["TLS in front"]
            #expect(found?.0 == "wrong" && found?.1.hasPrefix("\(host): ") == true)
            #expect(found?.1.contains("looking up") == false, "\(found?.1 ?? "")")
        }
    }

    @Test func `room and clock are told in figures`() throws {
        let found = try findings(port: standIn.port, publicURL: "http://where.example.org").checks
        #expect(found["room"]?.1.contains("iB are free, ") == true)
        #expect(["good", "note"].contains(found["clock keeping"]?.0))
    }
}
