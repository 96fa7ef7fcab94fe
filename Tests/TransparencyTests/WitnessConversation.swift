import TestSupport
import Testing

/// Requests to a witness of another implementation and its answers, recorded as scripts of its tests.
enum WitnessConversation {
    struct Exchange {
        let body: [UInt8]
        let status: Int
        let expected: String
        /// Whether ``expected`` is the whole body of the answer, or a part.
        let isWhole: Bool
    }

    static let sigsumKey = "ffdc2d4d98e4124d3feaf788c0c2f9abfd796083d1f0495437f302ec79cf100f"
    static let sigsum = "sigsum.org/v1/tree/4d6d8825a6bb689d459628312889dfbb0bcd41b5211d9e1ce768b0ff0309e562"
    static let goKey = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"

    static func exchanges(_ name: String) throws -> [Exchange] {
        let text = try String(
            decoding: contents(ofFile: #require(Repository.fixtures) + "/witness/\(name)"), as: UTF8.self)
        return try text.split(separator: "\nPOST ").dropFirst().map { part in
            let body = try #require(part.split(separator: "```\n", omittingEmptySubsequences: false).dropFirst().first)
            let rest = try #require(part.split(separator: "```\nHTTP ").last)
            let line = try #require(rest.split(separator: "\n").first { $0.hasPrefix("body ") })
            return Exchange(
                body: Array(body.utf8), status: try #require(Int(rest.prefix(3))),
                expected: line.split(separator: "\"").dropFirst().joined().replacing("\\n", with: "\n"),
                isWhole: line.hasPrefix("body =="))
        }
    }
}
