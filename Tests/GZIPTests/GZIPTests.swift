import Foundation
import TestSupport
import Testing

@testable import GZIP

/// Judged by gzip itself.
@Suite struct GZIPTests {
    private func unpacked(_ bytes: [UInt8]) -> [UInt8]? {
        let (status, output) = Foreign.run(
            "base64 --decode | gzip --decompress --stdout | base64 --wrap=0", input: Data(bytes).base64EncodedString())
        return status == 0 ? Data(base64Encoded: output).map { [UInt8]($0) } : nil
    }

    @Test func `gzip gets back what was packed`() throws {
        var random = SplitMix(1)
        for count in [0, 1, 1000, 300_000] {
            let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = Array(
                repeatElement(Array(#"{"latitude":48.2,"longitude":16.3},"#.utf8), count: count / 30).joined())
            for bytes in [noise, text] {
                let packed = try #require(gzipped(bytes))
                #expect(unpacked(packed) == bytes)
                if bytes.count > 10_000, bytes == text { #expect(packed.count < bytes.count / 20) }
            }
        }
    }
}
