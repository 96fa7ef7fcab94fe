import Answers
import GZIP
package import HTTPServer

/// Answers compressed with gzip for clients that accept it (RFC 9110, section 12.5.3).
///
/// The length of a compressed answer discloses whether one text in it repeats another. An attacker who can put texts
/// beside a secret and have the answer fetched many times finds the secret letter by letter (BREACH; Gluck, Harris,
/// Prado 2013). So only answers to `GET` are compressed, and never a stream, an answer that shows a new token or code,
/// or one that has other people's words and facts that they may not know, such as the purposes of requesters
/// (``Route/mixesTexts``). The recorded hash of an answer is that of the uncompressed bytes.
package enum ContentCoding {
    /// Shorter answers fit into one packet anyway.
    private static let bytesMin = 1024

    /// The answer, compressed if the client accepts gzip and the answer may be compressed.
    ///
    /// An answer that could have been compressed has `Vary: Accept-Encoding`, whether or not it is.
    static func encoded(_ response: HTTPResponse, for request: HTTPRequest, of route: Route) -> HTTPResponse {
        guard route.method == "GET", !route.mixesTexts, response.status == 200, response.stream == nil,
            response.body.count >= bytesMin
        else { return response }
        var response = response
        response.headers.append(("Vary", "Accept-Encoding"))
        guard request.header("accept-encoding").map(takesGZIP) ?? false, let packed = gzipped(response.body) else {
            return response
        }
        response.headers.append(("Content-Encoding", "gzip"))
        response.body = packed
        return response
    }

    /// Whether the client accepts gzip, and prefers it to `identity` or likes both the same. `*` means every
    /// coding that the header does not name.
    package static func takesGZIP(_ header: String) -> Bool {
        let wanted = Preference.list(header.lowercased())
        func quality(_ names: String...) -> Double? { wanted.first { names.contains($0.name) }?.quality }
        let any = quality("*")
        guard let gzip = quality("gzip", "x-gzip") ?? any, gzip > 0 else { return false }
        return gzip >= quality("identity") ?? any ?? 0
    }

    /// The answer 415 to a request with a compressed body; `nil` for other requests. Compressed bodies are not
    /// accepted: a few bytes could become a gigabyte.
    package static func refusal(of request: HTTPRequest) -> HTTPResponse? {
        guard let coding = request.header("content-encoding"), !coding.isEmpty, coding.lowercased() != "identity",
            !request.body.isEmpty
        else { return nil }
        var response = Problem(415, "Not readable", "The body is compressed; send it without a Content-Encoding.")
            .response
        response.headers.append(("Accept-Encoding", "identity"))
        return response
    }
}
