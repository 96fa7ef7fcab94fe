import Cryptography
import Envelopes
import Geodesy
import TestSupport
import Testing
import Whereabouts

typealias RecipientKey = Curve25519.KeyAgreement.PrivateKey

extension SplitMix {
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) } }

    mutating func identifier() -> Identifier128 { Identifier128(random: next(), next()) }

    mutating func device() -> EnvelopeDevice { EnvelopeDevice(rawValue: Int64.random(in: 1...Int64.max, using: &self)) }

    /// A fix with any of the fields that a phone gives, from 1972 to 9999.
    mutating func fix() throws -> Fix {
        var fix = Fix(
            timestamp: Timestamp(milliseconds: Int64.random(in: 63_072_000_000...253_402_300_799_999, using: &self)),
            coordinate: try Coordinate(
                latitude: Double.random(in: -90...90, using: &self),
                longitude: Double.random(in: -180...180, using: &self)))
        func maybe(_ range: ClosedRange<Double>, _ random: inout SplitMix) -> Double? {
            random.chance(0.5) ? Double.random(in: range, using: &random) : nil
        }
        fix.horizontalAccuracy = maybe(-1...5000, &self)
        fix.altitude = maybe(-400...9000, &self)
        fix.ellipsoidalAltitude = maybe(-400...9000, &self)
        fix.verticalAccuracy = maybe(1...100, &self)
        fix.floor = chance(0.5) ? Int64.random(in: -5...200, using: &self) : nil
        fix.speed = maybe(0...300, &self)
        fix.speedAccuracy = maybe(0...10, &self)
        fix.course = maybe(0...359.9, &self)
        fix.courseAccuracy = maybe(0...180, &self)
        fix.isSimulatedBySoftware = chance(0.5) ? chance(0.5) : nil
        fix.isProducedByAccessory = chance(0.5) ? chance(0.5) : nil
        fix.batteryLevel = maybe(0...1, &self)
        return fix
    }

    /// A fix in some tier.
    mutating func tiered() throws -> TieredFix {
        let fix = try fix()
        switch EnvelopeTier.allCases.randomElement(using: &self) {
        case .kilometer: return TieredFix(kilometer: fix, in: HeldCell(around: fix.coordinate))
        case .city: return TieredFix(city: fix)
        default: return TieredFix(exact: fix)
        }
    }
}

/// The fix with the longest encoding.
func longestFix() throws -> Fix {
    var fix = Fix(
        timestamp: Timestamp(milliseconds: 253_402_300_799_999),
        coordinate: try Coordinate(latitude: 1.0 / 3, longitude: 2.0 / 3))
    fix.horizontalAccuracy = 1.0 / 7
    fix.altitude = 1.0 / 7
    fix.ellipsoidalAltitude = 1.0 / 7
    fix.verticalAccuracy = 1.0 / 7
    fix.floor = .min
    fix.speed = 1.0 / 7
    fix.speedAccuracy = 1.0 / 7
    fix.course = 1.0 / 7
    fix.courseAccuracy = 1.0 / 7
    fix.isSimulatedBySoftware = true
    fix.isProducedByAccessory = false
    fix.batteryLevel = 1.0 / 7
    return fix
}

/// The outcome of something that may be refused.
func outcome<T>(_ body: () throws(EnvelopeError) -> T) -> Result<T, EnvelopeError> {
    Result { () throws(EnvelopeError) in try body() }
}

extension Envelope {
    /// The bytes after a change of the members, with a new signature by `identity`.
    func resigned(by identity: Ed25519PrivateKey, _ change: (inout [CBORValue]) -> Void) throws -> [UInt8] {
        guard
            case .array(var members) = try bytes.withUnsafeBytes({ bytes in
                var reader = CBORReader(bytes)
                return try reader.value()
            })
        else { throw EnvelopeError.malformed }
        change(&members)
        var writer = CBORWriter()
        writer.array(members.count)
        for member in members.dropLast() { member.write(to: &writer) }
        writer.byteString(identity.sign(Array("whereabouts/1 envelope ".utf8) + writer.bytes))
        return writer.bytes
    }
}
