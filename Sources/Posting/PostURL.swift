import CCurl

/// Scheme, host and port of a URL (RFC 6454).
package struct Origin: Hashable, Sendable, CustomStringConvertible {
    package let isEncrypted: Bool
    /// In lower case; an address of IPv6 in brackets.
    package let host: String
    package let port: Int

    fileprivate init(isEncrypted: Bool, host: String, port: Int) {
        (self.isEncrypted, self.host, self.port) = (isEncrypted, host, port)
    }

    /// `https://hooks.example.org` or `http://localhost:9000`; `nil` when it is none, or has a path.
    package init?(_ text: String) {
        guard let url = PostURL(text), url.text == "\(url.origin)/" else { return nil }
        self = url.origin
    }

    package var description: String {
        let isUsual = port == (isEncrypted ? 443 : 80)
        return (isEncrypted ? "https://" : "http://") + host + (isUsual ? "" : ":\(port)")
    }

    /// Whether it names this very machine.
    package var isLoopback: Bool { host == "localhost" || host == "[::1]" || host.hasPrefix("127.") }
}

/// A URL to post to, parsed by the library that also connects, so that two parsers cannot disagree.
package struct PostURL: Hashable, Sendable {
    /// In its normal form: scheme, host and, unless it is the usual one, port; then the path.
    package let text: String
    package let origin: Origin

    /// `nil` for a text that is no URL of `https` or `http`, that has a user, a password or a fragment, or that has a
    /// character other than visible ASCII. A host name with other letters must be in its `xn--` form.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let url = curl_url() else { return nil }
        defer { curl_url_cleanup(url) }
        guard curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
        func part(_ what: CURLUPart, _ flags: UInt32 = 0) -> String? {
            var found: UnsafeMutablePointer<CChar>?
            guard curl_url_get(url, what, &found, flags) == CURLUE_OK, let found else { return nil }
            defer { curl_free(found) }
            return String(cString: found)
        }
        guard let scheme = part(CURLUPART_SCHEME), ["https", "http"].contains(scheme),
            let host = part(CURLUPART_HOST)?.lowercased(), !host.isEmpty, !host.contains("%"),
            let port = part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap({ Int($0) }), port > 0,
            part(CURLUPART_USER) == nil, part(CURLUPART_PASSWORD) == nil, part(CURLUPART_FRAGMENT) == nil,
            part(CURLUPART_ZONEID) == nil,
            let path = part(CURLUPART_PATH)
        else { return nil }
        origin = Origin(isEncrypted: scheme == "https", host: host, port: port)
        self.text = "\(origin)\(path)" + (part(CURLUPART_QUERY).map { "?\($0)" } ?? "")
    }
}
