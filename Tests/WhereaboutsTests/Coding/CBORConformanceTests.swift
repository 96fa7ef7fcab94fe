import TestSupport
import Testing
import Whereabouts

@Suite struct CBORConformanceTests {
    @Test func `every example of RFC 8949 Appendix A is read as it says, or refused as not deterministic`() throws {
        let lines = try Repository.rows(of: "cbor-appendix-a.txt")
        #expect(lines.count == 81)
        for line in lines {
            let fields = line.split(separator: " ", maxSplits: 2)
            let input = try #require(bytes(hex: fields[0]))
            if fields[1] == "yes" {
                let value = try CBORValue.read(input)
                #expect(value.diagnostic == fields[2])
                #expect(value.encoded == input)
            } else {
                #expect(throws: CBORError.notDeterministic, "\(line)") { try CBORValue.read(input) }
            }
        }
    }

    /// RFC 8949 §4.2.1 and §3; each input breaks one rule.
    @Test(arguments: [
        ("1817", CBORError.notDeterministic), ("1900ff", .notDeterministic), ("1a0000ffff", .notDeterministic),
        ("1b00000000ffffffff", .notDeterministic), ("3801", .notDeterministic), ("590001aa", .notDeterministic),
        ("fa3f800000", .notDeterministic), ("fb3ff8000000000000", .notDeterministic), ("f97e01", .notDeterministic),
        ("a202000100", .notDeterministic), ("a201000100", .notDeterministic), ("a2616200190100f4", .notDeterministic),
        ("f800", .notDeterministic), ("f81f", .notDeterministic), ("1c", .notDeterministic), ("ff", .notDeterministic),
        ("18", .truncated), ("1901", .truncated), ("43aabb", .truncated), ("6261", .truncated), ("82 01", .truncated),
        ("a101", .truncated), ("", .truncated), ("9b7fffffffffffffff", .truncated), ("5bffffffffffffffff", .truncated),
        ("62c328", .notUTF8), ("63eda080", .notUTF8), ("0000", .trailing),
    ])
    func `what breaks a rule is refused by that rule`(digits: String, error: CBORError) throws {
        let input = try #require(bytes(hex: digits.filter { $0 != " " }))
        #expect(throws: error) { try CBORValue.read(input) }
    }

    @Test func `32 arrays deep is read, 33 is not`() throws {
        #expect(throws: Never.self) { try CBORValue.read([UInt8](repeating: 0x81, count: 31) + [0x00]) }
        #expect(throws: CBORError.tooDeep) { try CBORValue.read([UInt8](repeating: 0x81, count: 32) + [0x00]) }
    }

    /// 2¹⁶ halves, decoded as IEEE 754 defines binary16, each of them the shortest form of its value.
    @Test func `every half-precision float survives`() throws {
        for bits in UInt16.min...UInt16.max {
            let fraction = Double(bits & 0x3FF)
            let exponent = Int(bits >> 10 & 31)
            let magnitude: Double =
                switch exponent {
                case 0: fraction * 0x1p-24
                case 31: fraction == 0 ? .infinity : .nan
                default: (1 + fraction / 1024) * Double(sign: .plus, exponent: exponent - 15, significand: 1)
                }
            let value = bits & 0x8000 == 0 ? magnitude : -magnitude
            let encoded = CBORValue.float(value).encoded
            if value.isNaN {
                #expect(encoded == [0xF9, 0x7E, 0x00])
            } else {
                #expect(encoded == [0xF9, UInt8(bits >> 8), UInt8(bits & 0xFF)])
                #expect(try CBORValue.read(encoded) == .float(value))
            }
        }
    }

    @Test func `random floats keep all their bits`() throws {
        var random = SplitMix(7)
        for _ in 0..<20_000 {
            let wide = Double(bitPattern: random.next())
            let single = Double(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
            for value in [wide, single] where !value.isNaN {
                guard case .float(let back) = try CBORValue.read(CBORValue.float(value).encoded) else {
                    Issue.record("A float came back as something else.")
                    return
                }
                #expect(back.bitPattern == value.bitPattern)
            }
        }
    }

    @Test func `100,000 mutated inputs are read or refused, and what is read gives the same bytes`() throws {
        let seeds = try Repository.rows(of: "cbor-appendix-a.txt").compactMap {
            bytes(hex: $0.split(separator: " ")[0])
        }
        var random = SplitMix(42)
        var read = 0
        for _ in 0..<100_000 {
            var input = seeds.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: input.append(UInt8(truncatingIfNeeded: random.next()))
                case 1 where !input.isEmpty: input.removeLast()
                case 2: input.insert(contentsOf: seeds.randomElement(using: &random) ?? [], at: 0)
                default:
                    if let index = input.indices.randomElement(using: &random) {
                        input[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                    }
                }
            }
            guard let value = try? CBORValue.read(input) else { continue }
            read += 1
            #expect(value.encoded == input)
        }
        #expect(read > 1000)
    }
}
