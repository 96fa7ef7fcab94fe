internal import CMicroHTTP
internal import Glibc

/// Answers sent without libmicrohttpd, which cannot answer in the middle of a body, nor (except for POST and PUT)
/// before a body without reading it. They are short, nothing else is being sent at the time, and the connection is
/// closed after them.
enum DirectAnswer {
    /// The bytes of an answer that announces the end of the connection.
    static func bytes(of response: HTTPResponse, isHead: Bool) -> [UInt8] {
        let reason = MHD_get_reason_phrase_for(UInt32(response.status)).map { String(cString: $0) } ?? ""
        var text = "HTTP/1.1 \(response.status) \(reason)\r\nDate: \(httpDate())\r\nConnection: close\r\n"
        for header in response.headers { text += "\(header.name): \(header.value)\r\n" }
        text += "Content-Length: \(response.body.count)\r\n\r\n"
        return Array(text.utf8) + (isHead ? [] : response.body)
    }

    /// Sends as much as the socket's buffer takes. That is everything, except on a broken connection.
    static func send(_ response: HTTPResponse, isHead: Bool, to descriptor: CInt) {
        let bytes = bytes(of: response, isHead: isHead)
        // libmicrohttpd's sockets do not block, and SIGPIPE is ignored.
        _ = Glibc.send(descriptor, bytes, bytes.count, 0)
    }

    /// The present time in the form of RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func httpDate() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func twoDigits(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
        let month = months[Int(parts.tm_mon)]
        return "\(days[Int(parts.tm_wday)]), \(twoDigits(parts.tm_mday)) \(month) \(parts.tm_year + 1900) \(clock) GMT"
    }
}
