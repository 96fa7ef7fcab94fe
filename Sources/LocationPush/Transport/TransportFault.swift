internal import COpenSSL
internal import Glibc
package import Threading

/// Why a connection could not be made or was lost, in words for an operator.
///
/// The text names a cause (a system error, a certificate problem, a protocol error), never sent data.
package struct TransportFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The fault, without a full stop.
    package let description: String

    /// A fault in plain words.
    package init(_ description: String) {
        self.description = description
    }

    /// A failed system call, with the present `errno` unless another code is given (`strerror_r`).
    package init(call: String, code: Int32 = errno) {
        var text = [CChar](repeating: 0, count: 128)
        let isKnown = strerror_r(code, &text, text.count) == 0
        self.description = "\(call): \(isKnown ? cString(text) : "error \(code)")"
    }

    /// A failed OpenSSL call, with the oldest error of this thread's queue, which is emptied (`ERR_get_error`).
    package init(openSSL call: String) {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else {
            self.description = call
            return
        }
        if let reason = ERR_reason_error_string(code) {
            self.description = "\(call): \(String(cString: reason))"
        } else {
            self.description = "\(call): OpenSSL error \(code)"
        }
    }
}

/// The characters before the terminating zero.
func cString(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Starts a thread that runs `body` once.
///
/// - Throws: ``TransportFault`` if the system has no thread left.
package func startThread(_ body: @escaping @Sendable () -> Void) throws(TransportFault) -> WorkerThread {
    do throws(ThreadError) {
        return try .started(body)
    } catch {
        throw TransportFault(call: "pthread_create", code: error.code)
    }
}
