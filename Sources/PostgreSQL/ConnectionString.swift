import CPostgreSQL

/// The words that name a server and a database for libpq: `host=… dbname=…` or `postgresql://…`.
package struct ConnectionString: Sendable, Hashable, CustomStringConvertible {
    /// As it was given.
    package let text: String

    /// Why a connection string is refused.
    package enum Fault: Error, Sendable {
        /// libpq cannot read it.
        case malformed(String)
        /// It has a password, which belongs in a file.
        case hasPassword
    }

    /// Reads a connection string. Nothing is connected and no file is opened.
    package init(_ text: String) throws(Fault) {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &message) else {
            defer { PQfreemem(message) }
            let sentence = message.map { String(cString: $0) } ?? "it cannot be read"
            throw .malformed(sentence.filter { !$0.isNewline })
        }
        defer { PQconninfoFree(options) }
        var option = options
        while let name = option.pointee.keyword {
            let isSecret = ["password", "sslpassword"].contains(String(cString: name))
            if isSecret, option.pointee.val != nil { throw .hasPassword }
            option += 1
        }
        self.text = text
    }

    package var description: String { text }
}
