import Cryptography
import Testing

@Suite struct RandomTests {
    @Test func `random bytes come in any number`() {
        for count in [0, 1, 12, 32, 5000] {
            #expect(randomBytes(count).count == count)
        }
        // By chance, a byte value is missing from 5,000 bytes once in a million runs.
        #expect(Set(randomBytes(5000)).count == 256)
    }

    @Test func `random keys differ and keep their bytes to themselves`() {
        let (a, b) = (SymmetricKey.random(), SymmetricKey.random())
        #expect(a.withBytes { [UInt8]($0) } != b.withBytes { [UInt8]($0) })
        let key = SymmetricKey(bytes: Array(repeating: 0x5A, count: 32))
        #expect(key.withBytes { [UInt8]($0) } == Array(repeating: 0x5A, count: 32))
        var text = ""
        dump(key, to: &text)
        #expect(!text.lowercased().contains("5a5a5a") && !text.contains("90, 90"))
    }
}
