import GZIP
import HTTPServer

/// Answers in gzip's form for clients that take it (RFC 9110, section 12.5.3).
///
/// Compressing tells by the length of an answer whether one text in it repeats another: who can put texts of their own
/// beside a secret and have the answer fetched again and again finds the secret letter by letter (BREACH, Gluck, Harris,
/// Prado 2013). So only what is read by `GET` is compressed, never an answer that shows a new token or code; nor is any in
/// which the words of others stand beside what they may not know, the purposes of askers above all
/// (``Route/mixesTexts``); nor a stream. What is on record as the hash of an answer is that of its bytes before.
enum ContentCoding {
    /// Shorter ones fit into one packet as they are.
    private static let bytesMin = 1024

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

    /// Whether gzip is wanted, and no less than the bytes as they are.
    static func takesGZIP(_ header: String) -> Bool {
        let wanted = Preference.list(header.lowercased())
        func quality(_ names: String...) -> Double? { wanted.first { names.contains($0.name) }?.quality }
        let any = quality("*")
        guard let gzip = quality("gzip", "x-gzip") ?? any, gzip > 0 else { return false }
        return gzip >= quality("identity") ?? any ?? 0
    }

    /// Why a body cannot be read as it was sent; `nil` when it can. None is unpacked: a few bytes could become a gigabyte.
    static func refusal(of request: HTTPRequest) -> HTTPResponse? {
        guard let coding = request.header("content-encoding"), !coding.isEmpty, coding.lowercased() != "identity",
            !request.body.isEmpty
        else { return nil }
        var response = Problem(415, "Not readable", "Send the body as it is, without a Content-Encoding.").response
        response.headers.append(("Accept-Encoding", "identity"))
        return response
    }
}
