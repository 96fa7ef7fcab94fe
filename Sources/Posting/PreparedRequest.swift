import CCurl
import CSupport
import Glibc

/// Takes the answer to a request, on the poster's thread.
protocol AnswerSink: AnyObject {
    /// The status and the headers are there. Called only if the request was made with `tellsBegin`.
    func begin()
    /// Takes a piece of the body: 0 ends the request, 1 goes on, 2 wants the piece again later.
    func take(_ piece: UnsafeRawBufferPointer) -> Int32
}

extension AnswerSink {
    func begin() {}
}

/// A request in libcurl's form, with the memory that libcurl reads while it is under way.
final class PreparedRequest {
    /// libcurl's handle.
    let handle: UnsafeMutableRawPointer
    /// Whether the rule refused the last address.
    private(set) var isRefused = false
    /// Set before the transfer begins; it owns this object.
    weak var sink: (any AnswerSink)?
    private let rule: AddressRule?
    private let options: UnsafeMutablePointer<post_options>
    private let body: UnsafeMutableBufferPointer<UInt8>

    /// - Parameters:
    ///   - omitted: The headers that libcurl would add and must not.
    ///   - rule: The addresses that may be connected to; `nil` for any.
    ///   - trustFile: PEM file of certificates to trust instead of the system's.
    init(_ post: Post, without omitted: [String], _ rule: AddressRule?, _ trustFile: String?, tellsBegin: Bool = false)
    {
        self.rule = rule
        options = .allocate(capacity: 1)
        body = .allocate(capacity: max(1, post.body.count))
        _ = body.update(fromContentsOf: post.body)
        var headers: UnsafeMutablePointer<curl_slist>?
        // With Expect, libcurl would ask first whether it may send a longer body.
        for line in post.headers + (["Expect"] + omitted).map({ $0 + ":" }) {
            headers = curl_slist_append(headers, line)
        }
        options.initialize(
            to: post_options(
                method: strdup(post.method), url: strdup(post.url.text),
                trust_file: trustFile.map { strdup($0) } ?? nil, headers: headers, body: body.baseAddress,
                body_bytes: post.body.count, connect_milliseconds: Poster.connectMilliseconds,
                milliseconds: post.milliseconds, context: nil,
                allows_address: { context, address in
                    guard let address else { return 0 }
                    return PreparedRequest.at(context)?.allows(address) == true ? 1 : 0
                },
                received: { context, bytes, count in
                    PreparedRequest.at(context)?.sink?.take(UnsafeRawBufferPointer(start: bytes, count: count)) ?? 0
                },
                began: tellsBegin ? { context in PreparedRequest.at(context)?.sink?.begin() } : nil,
                is_sent_once: post.isSentOnce ? 1 : 0))
        guard let handle = post_prepare(options) else { preconditionFailure("Out of memory.") }
        self.handle = handle
        options.pointee.context = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(options.pointee.headers)
        for text in [options.pointee.method, options.pointee.url, options.pointee.trust_file] {
            free(UnsafeMutableRawPointer(mutating: text))
        }
        options.deallocate()
        body.deallocate()
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> PreparedRequest? {
        context.map { Unmanaged<PreparedRequest>.fromOpaque($0).takeUnretainedValue() }
    }

    private func allows(_ address: UnsafePointer<sockaddr>) -> Bool {
        let isAllowed = rule?.allows(address) ?? true
        if !isAllowed { isRefused = true }
        return isAllowed
    }
}
