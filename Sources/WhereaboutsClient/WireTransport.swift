package import HTTPServer
import Posting
import Replies
import Synchronization

/// The transport to a service that listens, by `https` or `http`. All copies of a client share its connections.
package final class WireTransport: Transport {
    /// Always: it talks to another process.
    package var isRunningService: Bool { true }
    private let origin: Origin
    private let poster: Poster
    private let seconds: Int

    /// The longest accepted answer, longer than the largest page.
    private static let bodyBytesMax = 256 << 20
    /// The longest answers compare all projections of a large log.
    package static let longestSeconds = 1800

    /// - Parameters:
    ///   - address: For example `https://where.example` or `http://127.0.0.1:8080`; the result is `nil` for another
    ///     form, or with a path.
    ///   - trustFile: A PEM file of the certificates to trust; `nil` means the system's.
    ///   - seconds: How long one answer may take.
    package init?(_ address: String, trustFile: String? = nil, seconds: Int = WireTransport.longestSeconds) {
        guard let origin = Origin(address) else { return nil }
        (self.origin, self.seconds) = (origin, seconds)
        // The caller chose the address, so it may be on a private network.
        poster = Poster(trustFile: trustFile) { _ in nil }
        poster.start()
    }

    deinit { poster.stop() }

    /// Sends a request over a kept or new connection.
    package func send(
        _ request: HTTPRequest, _ completion: @escaping @Sendable (Result<HTTPResponse, ClientError>) -> Void
    ) {
        let body = Mutex<[UInt8]>([])
        post(
            request,
            reading: { piece in
                body.withLock { body in
                    body.append(contentsOf: piece)
                    return body.count <= Self.bodyBytesMax
                }
            },
            { result in
                let body = body.withLock { $0 }
                guard body.count <= Self.bodyBytesMax else {
                    return completion(.failure(.service("The service's answer is too long.")))
                }
                completion(
                    result.map { response in
                        HTTPResponse(status: response.status, headers: response.headers, body: body)
                    })
            })
    }

    /// The longest refusal. The status comes with an answer's end, so this many bytes are kept until then.
    private static let refusalBytesMax = 64 << 10

    package func download(
        _ request: HTTPRequest, _ take: @escaping @Sendable ([UInt8]) -> Void
    ) throws(ClientError) -> HTTPResponse {
        let kept = Mutex<(bytes: [UInt8], isFile: Bool)>(([], false))
        let awaited = Awaited<Result<HTTPResponse, ClientError>>()
        post(
            request,
            reading: { piece in
                let bytes = kept.withLock { kept -> [UInt8] in
                    kept.bytes.append(contentsOf: piece)
                    kept.isFile = kept.isFile || kept.bytes.count > Self.refusalBytesMax
                    guard kept.isFile else { return [] }
                    defer { kept.bytes = [] }
                    return kept.bytes
                }
                if !bytes.isEmpty { take(bytes) }
                return true
            }, { awaited.give($0) })
        var response = try awaited.take().get()
        let rest = kept.withLock { $0.bytes }
        if (200..<300).contains(response.status) { take(rest) } else { response.body = rest }
        return response
    }

    /// Sends a request; `completion` gets the answer without its body.
    private func post(
        _ request: HTTPRequest, reading reader: @escaping Poster.Reader,
        _ completion: @escaping @Sendable (Result<HTTPResponse, ClientError>) -> Void
    ) {
        guard let url = PostURL("\(origin)\(Self.target(of: request))") else {
            return completion(.failure(.request("The address of the request is not a valid URL.")))
        }
        let post = Post(
            request.method, to: url, headers: request.headers.map { "\($0.name): \($0.value)" }, body: request.body,
            milliseconds: seconds * 1000, wanting: [ReceiptFile.header, ExportHeader.count])
        let origin = self.origin
        poster.send(post, reading: reader) { outcome in
            switch outcome {
            case .answered(let status, let retryAfterSeconds, let others):
                let headers =
                    (retryAfterSeconds > 0 ? [("Retry-After", "\(retryAfterSeconds)")] : [])
                    + others.map { ($0.key, $0.value) }
                completion(.success(HTTPResponse(status: status, headers: headers)))
            case .failed(let fault):
                completion(.failure(.service("The service at \(origin) cannot be reached: \(fault.words).")))
            }
        }
    }

    /// Does nothing: connections are closed with the transport.
    package func close() {}

    private static func target(of request: HTTPRequest) -> String {
        let path = request.path.split(separator: "/").map { "/" + percentEncoded(String($0)) }.joined()
        let query = request.query.map { "\(percentEncoded($0.name))=\(percentEncoded($0.value))" }
        return (path.isEmpty ? "/" : path) + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }
}

extension PostFault {
    fileprivate var words: String {
        switch self {
        case .unknownHost: "its name has no address"
        case .notConnected, .addressNotAllowed: "nothing listens there"
        case .tls: "its certificate is not trusted, or it does not speak TLS"
        case .timeout: "it does not answer in time"
        case .cut: "the connection ended before the answer did"
        case .stopped: "the connection was closed here"
        }
    }
}

/// The text with escapes for all but the unreserved characters of RFC 3986.
package func percentEncoded(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            encoded.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            let digits = String(byte, radix: 16, uppercase: true)
            encoded += digits.count == 1 ? "%0" + digits : "%" + digits
        }
    }
    return encoded
}
