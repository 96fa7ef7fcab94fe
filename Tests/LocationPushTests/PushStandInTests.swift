import Glibc
import JSON
import LocationPush
import PushStandIn
import TestSupport
import Testing

@testable import struct PushStandIn.ArrivedRequest
@testable import struct PushStandIn.PhoneRegistry
@testable import struct PushStandIn.PushRefusal
@testable import struct PushStandIn.PushRules

@Suite struct PushStandInTests {
    // MARK: - Rules

    /// One change to a good request, and the answer in the words of Apple's "Handling notification responses".
    static let broken: [(change: String, status: Int, reason: String)] = [
        (":method=GET", 405, "MethodNotAllowed"),
        (":path=/3/devices/", 404, "BadPath"),
        (":path=/3/device/", 400, "MissingDeviceToken"),
        (":path=/3/device/0g", 400, "BadDeviceToken"),
        (":path=/3/device/ABCD", 400, "BadDeviceToken"),
        (":path=/3/device/abc", 400, "BadDeviceToken"),
        (":path=/3/device/abcd", 400, "BadDeviceToken"),
        ("+apns-topic=x", 400, "DuplicateHeaders"),
        ("-authorization", 403, "MissingProviderToken"),
        ("apns-push-type=alert", 400, "InvalidPushType"),
        ("-apns-topic", 400, "MissingTopic"),
        ("apns-topic=org.example.app", 400, "BadTopic"),
        ("apns-topic=.location-query", 400, "BadTopic"),
        ("apns-topic=org.other.location-query", 400, "TopicDisallowed"),
        ("apns-topic=org.second.location-query", 400, "DeviceTokenNotForTopic"),
        ("apns-priority=7", 400, "BadPriority"),
        ("apns-priority=010", 400, "BadPriority"),
        ("apns-expiration=-1", 400, "BadExpirationDate"),
        ("apns-expiration=", 400, "BadExpirationDate"),
        ("apns-expiration=1.5", 400, "BadExpirationDate"),
        ("apns-id=ABCDEF00-0000-0000-0000-000000000000", 400, "BadMessageId"),
        ("apns-id=abcdef00000000000000000000000000", 400, "BadMessageId"),
        ("apns-collapse-id=" + String(repeating: "c", count: 65), 400, "BadCollapseId"),
        ("body=", 400, "PayloadEmpty"),
        ("body=[]", 400, "PayloadNotAnObject"),
        ("body=" + String(repeating: " ", count: 4095) + "{}", 413, "PayloadTooLarge"),
    ]

    static let harmless = [
        "-apns-push-type", "-apns-priority", "apns-priority=1", "apns-priority=5", "-apns-expiration", "-apns-id",
        "apns-collapse-id=" + String(repeating: "c", count: 64), "apns-expiration=0",
        "body=" + String(repeating: " ", count: 4094) + "{}",
    ]

    private func verdict(on change: String) throws -> PushRefusal? {
        let folder = TemporaryFolder()
        var phones = try PhoneRegistry(directory: folder.path)
        defer { phones.closeFile() }
        let token = try phones.register(bundleID: "org.example.app", environment: .development)
        var request = ArrivedRequest()
        request.body = Array("{}".utf8)
        request.fields = [
            (":method", "POST", false), (":path", "/3/device/\(token)", true), ("authorization", "bearer x", true),
            ("apns-push-type", "location", false), ("apns-topic", "org.example.app.location-query", false),
            ("apns-priority", "10", false), ("apns-expiration", "1900000000", false),
            ("apns-id", "abcdef00-0000-0000-0000-000000000000", false),
        ]
        let (name, value) = change.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).pair
        switch change.first {
        case "-": request.fields.removeAll { $0.name == name.dropFirst() }
        case "+": request.fields.append((String(name.dropFirst()), value, false))
        case _ where name == "body":
            request.body = []
            Array(value.utf8).withUnsafeBytes { request.append($0) }
        default:
            request.fields.removeAll { $0.name == name }
            request.fields.append((name, value, false))
        }
        let rules = PushRules(environment: .development, bundleIDs: ["org.example.app", "org.second"])
        do throws(PushRefusal) {
            _ = try rules.check(request, phones: phones) { authorization in
                authorization == nil ? PushRefusal(status: 403, reason: "MissingProviderToken") : nil
            }
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: broken)
    func `one broken rule is answered in APNs' words`(change: String, status: Int, reason: String) throws {
        #expect(try verdict(on: change) == PushRefusal(status: status, reason: reason))
    }

    @Test(arguments: harmless)
    func `what APNs allows is accepted`(change: String) throws {
        #expect(try verdict(on: change) == nil)
    }

    // MARK: - Credentials

    @Test func `credentials are made once, readable by their owner only, and used again`() throws {
        let scene = try Scene()
        let first = scene.standIn.credentials
        for file in [first.trustFile, first.serverCertificateFile, first.serverKeyFile, first.providerKeyFile] {
            var status = stat()
            #expect(stat(file, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600, "\(file)")
        }
        #expect(first.keyID.utf8.count == 10 && first.providerKeyFile.hasSuffix("/AuthKey_\(first.keyID).p8"))
        let before = try String(contentsOfFile: first.trustFile)
        let second = try PushStandInCredentials.make(in: scene.directory)
        #expect(second.keyID == first.keyID && second.teamID == first.teamID)
        #expect(try String(contentsOfFile: second.trustFile) == before)
        scene.close()
    }

    @Test(.enabled(if: Foreign.has("openssl"), "openssl is not installed"))
    func `openssl accepts the server's certificate for the loopback names`() throws {
        let scene = try Scene()
        defer { scene.close() }
        let files = scene.standIn.credentials
        for check in ["-verify_hostname localhost", "-verify_ip 127.0.0.1"] {
            let (status, output) = Foreign.run(
                "openssl verify -x509_strict -CAfile '\(files.trustFile)' \(check) '\(files.serverCertificateFile)' 2>&1"
            )
            #expect(status == 0, "\(output)")
        }
    }

    // MARK: - Foreign clients

    private static let hasPython = Foreign.hasPython(with: "h2, cryptography")

    @Test(.enabled(if: hasPython, "WHEREABOUTS_PYTHON names no python with h2 and cryptography"))
    func `PyPI h2 with a provider token by PyPI cryptography gets the answers APNs would give`() throws {
        let scene = try Scene(bundleIDs: [Scene.bundleID])
        defer { scene.close() }
        let files = scene.standIn.credentials
        let (status, output) = Foreign.run(
            """
            '\(Foreign.python)' '\(Repository.conformance("push_with_h2.py"))' \(scene.standIn.port) '\(files.trustFile)' \
            '\(files.providerKeyFile)' \(files.keyID) \(files.teamID) \(hex(scene.phone)) \
            \(Scene.bundleID).location-query 2>&1
            """)
        #expect(status == 0)
        #expect(
            output == """
                200  1000
                400 {"reason":"DuplicateHeaders"} 1000
                400 {"reason":"TopicDisallowed"} 1000
                400 {"reason":"MissingDeviceToken"} 1000

                """)
    }

    @Test(.enabled(if: Foreign.has("nghttp"), "nghttp is not installed"))
    func `nghttp gets a 200 with the id echoed`() throws {
        let scene = try Scene()
        defer { scene.close() }
        let token = try scene.standIn.credentials.providerTokenKey()
            .sign(issuedAtSeconds: PushClock.system.now().unixMs / 1000)
        let (_, output) = Foreign.run(
            """
            printf '{"aps":{}}' | timeout 20 nghttp -nv -H ':method: POST' -H 'authorization: bearer \(token)' \
            -H 'apns-push-type: location' -H 'apns-topic: \(Scene.bundleID).location-query' \
            -H 'apns-id: 11111111-2222-3333-4444-555555555555' -d - --no-content-length --no-dep \
            https://localhost:\(scene.standIn.port)/3/device/\(hex(scene.phone)) 2>&1
            """)
        #expect(output.contains(":status: 200"), "\(output)")
        #expect(output.contains("apns-id: 11111111-2222-3333-4444-555555555555"))
        #expect(output.contains("apns-unique-id: "))
        #expect(output.contains("SETTINGS_MAX_CONCURRENT_STREAMS(0x03):1]"))
        #expect(output.contains("SETTINGS_MAX_CONCURRENT_STREAMS(0x03):1000]"))
    }

    @Test(.enabled(if: Foreign.has("nghttp"), "nghttp is not installed"))
    func `a provider token of a wrong age, key or signature is refused`() throws {
        let scene = try Scene()
        defer { scene.close() }
        let key = try scene.standIn.credentials.providerTokenKey()
        let now = PushClock.system.now().unixMs / 1000
        let good = try key.sign(issuedAtSeconds: now)
        let other = try Scene()
        defer { other.close() }
        let cases = [
            (try key.sign(issuedAtSeconds: now - 3700), "ExpiredProviderToken"),
            (try key.sign(issuedAtSeconds: now + 3700), "InvalidProviderToken"),
            (try other.standIn.credentials.providerTokenKey().sign(issuedAtSeconds: now), "InvalidProviderToken"),
            (good.dropLast(4) + "AAAA", "InvalidProviderToken"),
            (good + "=", "InvalidProviderToken"),
            ("x.y", "InvalidProviderToken"),
        ]
        for (token, reason) in cases {
            let (_, output) = Foreign.run(
                """
                printf '{"aps":{}}' | timeout 20 nghttp -v -H ':method: POST' -H 'authorization: bearer \(token)' \
                -H 'apns-push-type: location' -H 'apns-topic: \(Scene.bundleID).location-query' -d - \
                https://localhost:\(scene.standIn.port)/3/device/\(hex(scene.phone)) 2>&1
                """)
            #expect(output.contains(":status: 403") && output.contains(reason), "\(reason): \(output)")
        }
    }
}

extension Array<Substring> {
    fileprivate var pair: (String, String) { (String(self[0]), count > 1 ? String(self[1]) : "") }
}

extension String {
    init(contentsOfFile path: String) throws {
        guard let file = fopen(path, "r") else { throw TransportFault(call: "fopen") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 100_000)
        let count = fread(&bytes, 1, bytes.count, file)
        self = String(decoding: bytes[..<count], as: UTF8.self)
    }
}
