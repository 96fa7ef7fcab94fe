import Glibc

/// Which addresses a name chosen by another party may lead to. By IANA's registries of special-purpose addresses (RFC
/// 6890), these are the globally reachable ones; this machine and private networks only if they are allowed.
package struct AddressRule: Hashable, Sendable {
    /// Addresses of this machine.
    package let allowsLoopback: Bool
    /// Addresses of private networks: RFC 1918, RFC 6598 and RFC 4193.
    package let allowsPrivate: Bool

    package init(allowsLoopback: Bool, allowsPrivate: Bool) {
        (self.allowsLoopback, self.allowsPrivate) = (allowsLoopback, allowsPrivate)
    }

    private enum Reach {
        case global, loopback, `private`, none
    }

    /// Whether an address may be connected to: 4 bytes or 16, in the order of the network; others never.
    package func allows(_ address: [UInt8]) -> Bool {
        let reach: Reach =
            switch address.count {
            case 4: Self.reach(v4: address)
            case 16: Self.reach(v6: address)
            default: .none
            }
        return switch reach {
        case .global: true
        case .loopback: allowsLoopback
        case .private: allowsPrivate
        case .none: false
        }
    }

    func allows(_ address: UnsafePointer<sockaddr>) -> Bool {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin_addr) { allows(Array($0)) }
            }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { allows(Array($0)) }
            }
        default: return false
        }
    }

    private static func reach(v4 address: some Collection<UInt8>) -> Reach {
        let number = address.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        func isIn(_ block: UInt32, _ bits: UInt32) -> Bool { number >> (32 - bits) == block >> (32 - bits) }
        if isIn(0x7F00_0000, 8) { return .loopback }
        if isIn(0x0A00_0000, 8) || isIn(0xAC10_0000, 12) || isIn(0xC0A8_0000, 16) || isIn(0x6440_0000, 10) {
            return .private
        }
        // This network, link-local (where clouds keep their credentials), protocol assignments, documentation,
        // benchmarks, the former relays of 6to4, multicast and reserved blocks.
        let special: [(UInt32, UInt32)] = [
            (0x0000_0000, 8), (0xA9FE_0000, 16), (0xC000_0000, 24), (0xC000_0200, 24), (0xC633_6400, 24),
            (0xCB00_7100, 24), (0xC612_0000, 15), (0xC058_6300, 24), (0xE000_0000, 3),
        ]
        return special.contains { isIn($0.0, $0.1) } ? .none : .global
    }

    private static func reach(v6 address: [UInt8]) -> Reach {
        let isMapped = address.prefix(10).allSatisfy { $0 == 0 } && address[10] == 0xFF && address[11] == 0xFF
        // NAT64 leads to the address of IPv4 behind it (RFC 6052).
        let isTranslated = address.prefix(12).elementsEqual([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0])
        if isMapped || isTranslated { return reach(v4: address.suffix(4)) }
        if address.dropLast().allSatisfy({ $0 == 0 }), address[15] == 1 { return .loopback }
        if address[0] & 0xFE == 0xFC { return .private }
        // Of the rest only 2000::/3 is routed; of that not protocol assignments (2001::/23), documentation
        // (2001:db8::/32, 3fff::/20) and 6to4 (2002::/16), which may lead to any address of IPv4.
        guard address[0] & 0xE0 == 0x20 else { return .none }
        let first = UInt32(address[0]) << 24 | UInt32(address[1]) << 16 | UInt32(address[2]) << 8 | UInt32(address[3])
        let isSpecial =
            first >> 9 == 0x2001_0000 >> 9 || first == 0x2001_0DB8 || first >> 16 == 0x2002
            || first >> 12 == 0x3FFF_0000 >> 12
        return isSpecial ? .none : .global
    }
}
