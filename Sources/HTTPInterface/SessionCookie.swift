package import HTTPServer

/// The cookie of the web page, and the requests for which it counts.
///
/// A browser adds a cookie to requests that other pages make. `SameSite=Strict` keeps those of other sites out, but a
/// site is a host without its port: a page on another port of the same host is of the same site. So the cookie counts
/// only if the browser says that the request is the page's own:
///
/// | Request | Counts if |
/// |---|---|
/// | `GET`, `HEAD` | `Sec-Fetch-Site` is absent, `same-origin` or `none`, or a person opens the address in a window |
/// | all others | `Sec-Fetch-Site` is `same-origin`; without this header, `Origin` is the service's own |
///
/// A request with the header `Authorization` is judged by that header alone.
package enum SessionCookie {
    /// The name of the cookie.
    package static let name = "whereabouts_session"

    /// The secret in the request's cookie, if the cookie counts.
    package static func secret(of request: HTTPRequest, publicURL: String?) -> Substring? {
        guard counts(request, publicURL: publicURL) else { return nil }
        for header in request.headers where header.name.lowercased() == "cookie" {
            for pair in header.value.split(separator: ";") {
                let sides = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                if sides.count == 2, sides[0] == name { return sides[1] }
            }
        }
        return nil
    }

    /// Whether a cookie counts for the request.
    package static func counts(_ request: HTTPRequest, publicURL: String?) -> Bool {
        let site = request.header("sec-fetch-site")
        guard request.method == "GET" || request.isHead else { return isOwn(request, publicURL: publicURL) }
        switch site {
        case nil, "same-origin", "none": return true
        default: return request.header("sec-fetch-mode") == "navigate" && request.header("sec-fetch-dest") == "document"
        }
    }

    /// Whether the request comes from a page of the service itself.
    package static func isOwn(_ request: HTTPRequest, publicURL: String?) -> Bool {
        if let site = request.header("sec-fetch-site") { return site == "same-origin" }
        guard let origin = request.header("origin") else { return false }
        return isOwn(origin, request, publicURL: publicURL)
    }

    /// Whether another page sends the form with which someone signs in. Programs that are no browsers send neither
    /// header.
    package static func isForeign(_ request: HTTPRequest, publicURL: String?) -> Bool {
        if let site = request.header("sec-fetch-site") { return site != "same-origin" }
        return request.header("origin").map { !isOwn($0, request, publicURL: publicURL) } ?? false
    }

    /// Whether an origin is the request's host or the public address.
    private static func isOwn(_ origin: String, _ request: HTTPRequest, publicURL: String?) -> Bool {
        let origin = origin.lowercased()
        if let host = request.header("host")?.lowercased(), origin == "http://\(host)" || origin == "https://\(host)" {
            return true
        }
        return publicURL.map { Self.origin(of: $0) == origin } ?? false
    }

    /// Scheme, host and port of a URL.
    private static func origin(of url: String) -> String {
        let parts = url.lowercased().split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return "" }
        return "\(parts[0])//\(parts[2].prefix { $0 != "/" })"
    }

    /// The header that sets the cookie, or ends it if there is no secret.
    package static func header(_ secret: String?, seconds: Int64, publicURL: String?) -> (name: String, value: String) {
        var value = "\(name)=\(secret ?? ""); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(secret == nil ? 0 : seconds)"
        if publicURL?.lowercased().hasPrefix("https://") == true { value += "; Secure" }
        return ("Set-Cookie", value)
    }
}
