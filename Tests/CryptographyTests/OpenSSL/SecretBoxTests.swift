import Testing

@testable import Cryptography

@Suite struct SecretBoxTests {
    private func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex)) }

    /// NaCl's own vector (Bernstein, Lange and Schwabe, `tests/secretbox.c` and "Cryptography in NaCl", section 9).
    @Test func `the vector of NaCl opens, and nothing that differs by a bit`() throws {
        let key = try bytes("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389")
        let nonce = try bytes("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37")
        let sealed = try bytes(
            """
            f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a\
            c0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae\
            90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74\
            e355a5
            """)
        let plain = try bytes(
            """
            be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c6129\
            6cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde\
            048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705
            """)
        #expect(SecretBox(passPhrase: key).open(base64: Base64.encode(nonce + sealed)) == plain)
        for index in stride(from: 0, to: nonce.count + sealed.count, by: 7) {
            var changed = nonce + sealed
            changed[index] ^= 1
            #expect(SecretBox(passPhrase: key).open(base64: Base64.encode(changed)) == nil)
        }
        #expect(SecretBox(passPhrase: key.dropLast()).open(base64: Base64.encode(nonce + sealed)) == nil)
        // Only the first 32 bytes of a pass phrase count.
        #expect(SecretBox(passPhrase: key + [7]).open(base64: Base64.encode(nonce + sealed)) == plain)
    }

    /// By PyNaCl 1.6.2 under the pass phrase "s3cr3t", filled up with zeros.
    @Test func `a short pass phrase is filled up with zeros`() {
        let box = SecretBox(passPhrase: "s3cr3t".utf8)
        #expect(
            box.open(base64: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXG/qU87HPEWtdN51KR8EFCpTfP7Mx").map {
                String(decoding: $0, as: UTF8.self)
            } == "hello")
    }

    @Test(arguments: ["", "AAAA", "not base 64", String(repeating: "A", count: 52), String(repeating: "A", count: 56)])
    func `what is no sealed message does not open`(text: String) {
        #expect(SecretBox(passPhrase: "s3cr3t".utf8).open(base64: text) == nil)
    }
}
