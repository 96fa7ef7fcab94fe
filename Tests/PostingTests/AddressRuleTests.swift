import Glibc
import Testing

@testable import Posting

/// Which addresses are reached: the blocks of IANA's registries of special-purpose addresses, each by its first and last
/// one, and the neighbours of some.
@Suite struct AddressRuleTests {
    private static func bytes(_ text: String) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: text.contains(":") ? 16 : 4)
        precondition(inet_pton(text.contains(":") ? AF_INET6 : AF_INET, text, &bytes) == 1)
        return bytes
    }

    private static func allows(_ text: String, loopback: Bool = false, private: Bool = false) -> Bool {
        AddressRule(allowsLoopback: loopback, allowsPrivate: `private`).allows(bytes(text))
    }

    @Test(arguments: [
        "1.1.1.1", "9.255.255.255", "11.0.0.0", "93.184.216.34", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "2001:200::1", "2606:2800:220:1::1", "2a00:1450::1",
        "::ffff:93.184.216.34", "64:ff9b::5db8:d822",
    ])
    func `what is reached from anywhere is allowed`(text: String) { #expect(Self.allows(text)) }

    @Test(arguments: [
        "10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255", "100.64.0.0",
        "100.127.255.255", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::ffff:10.0.0.1", "64:ff9b::a00:1",
    ])
    func `a private network only where it was allowed`(text: String) {
        #expect(!Self.allows(text) && !Self.allows(text, loopback: true) && Self.allows(text, private: true))
    }

    @Test(arguments: ["127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"])
    func `this machine only where it was named`(text: String) {
        #expect(!Self.allows(text) && !Self.allows(text, private: true) && Self.allows(text, loopback: true))
    }

    @Test(arguments: [
        "0.0.0.0", "0.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.255.255", "192.0.0.1", "192.0.2.1",
        "192.88.99.1", "198.18.0.0", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255",
        "240.0.0.1", "255.255.255.255", "::", "::2", "fe80::1", "febf::1", "fec0::1", "ff02::1", "100::1", "2001::1",
        "2001:db8::1", "2002:a00:1::1", "3fff::1", "4000::1", "::ffff:169.254.169.254", "64:ff9b:1::1", "::10.0.0.1",
    ])
    func `what leads nowhere, or to a cloud's own services, never`(text: String) {
        #expect(!Self.allows(text, loopback: true, private: true))
    }
}
