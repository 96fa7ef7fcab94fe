import LocationPush
import Testing

@Suite struct LocationPushRequestTests {
    private func make(
        token: [UInt8] = [1], bundle: String = "org.example.app", id: String = "0a1b2c3d-0000-1111-2222-333344445555",
        collapse: String? = nil, bytes: Int = 10, expiration: Int64 = 0
    ) throws(PushRequestError) -> LocationPushRequest {
        try LocationPushRequest(
            deviceToken: token, bundleID: bundle, environment: .production, priority: .userAsked,
            expirationSeconds: expiration, apnsID: id, collapseID: collapse,
            payload: [UInt8](repeating: 0x20, count: bytes), deadlineMs: 0)
    }

    @Test func `a payload has 1 to 4096 bytes`() throws {
        #expect(throws: PushRequestError.payloadLength(0)) { try make(bytes: 0) }
        _ = try make(bytes: 1)
        _ = try make(bytes: 4096)
        #expect(throws: PushRequestError.payloadLength(4097)) { try make(bytes: 4097) }
    }

    @Test(arguments: [
        "", "0A1B2C3D-0000-1111-2222-333344445555", "0a1b2c3d000011112222333344445555",
        "0a1b2c3d-0000-1111-2222-33334444555g", "0a1b2c3d-0000-1111-22223-33344445555",
    ])
    func `an apns-id is a UUID in lower case with its dashes`(id: String) {
        #expect(throws: PushRequestError.apnsID) { try make(id: id) }
    }

    @Test func `a collapse id has 1 to 64 bytes that fit in a header field`() throws {
        _ = try make(collapse: String(repeating: "a", count: 64))
        for bad in ["", String(repeating: "a", count: 65), "a\r\nb", "ä"] {
            #expect(throws: PushRequestError.collapseID) { try make(collapse: bad) }
        }
    }

    @Test func `a bundle id cannot smuggle anything into a header field`() {
        for bad in ["", "org.example/app", "org.example app", "org\r\nx"] {
            #expect(throws: PushRequestError.bundleID) { try make(bundle: bad) }
        }
        #expect(throws: PushRequestError.deviceTokenLength(0)) { try make(token: []) }
        #expect(throws: PushRequestError.expiration) { try make(expiration: -1) }
    }

    @Test func `a push describes itself without its whole device token or payload`() throws {
        let token = [UInt8](repeating: 0xAB, count: 28) + [0xDE, 0xAD, 0xBE, 0xEF]
        let push = try make(token: token)
        #expect("\(push)" == "push 0a1b2c3d-0000-1111-2222-333344445555 to …deadbeef")
        #expect(push.topic == "org.example.app.location-query")
    }
}
