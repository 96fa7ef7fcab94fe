import Glibc

/// Writes lines for the operator on standard error, with the priority prefix of the journal. A line has fixed words and
/// figures only: callers must not pass a coordinate, name, purpose or secret.
package enum Diagnostics {
    /// A fault that the operator must act on.
    package static func fault(_ event: StaticString, _ sentence: String) { write("<3>", event, sentence) }

    /// A note that needs no action.
    package static func note(_ event: StaticString, _ sentence: String) { write("<6>", event, sentence) }

    /// Writes one line, with spaces in place of control characters, in one system call.
    private static func write(_ priority: String, _ event: StaticString, _ sentence: String) {
        let clean = sentence.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : String($0) }.joined()
        // Only the journal strips the prefix; on a terminal it would be noise.
        let prefix = getenv("JOURNAL_STREAM") == nil ? "" : priority
        var line = "\(prefix)\(event): \(clean)\n"
        line.withUTF8 { bytes in _ = Glibc.write(2, bytes.baseAddress, bytes.count) }
    }
}
