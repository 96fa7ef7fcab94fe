import Glibc
import Log

/// A C library as loaded in this process. Its version may differ from the one at build time.
struct Library: Sendable {
    let name: String
    /// A function without arguments that returns the version as text.
    private let function: String

    static let all = [
        Library(name: "SQLite", function: "sqlite3_libversion"),
        Library(name: "libmicrohttpd", function: "MHD_get_version"),
        Library(name: "Expat", function: "XML_ExpatVersion"),
        // The function takes an argument; 0 requests the version as text, see `version`.
        Library(name: "OpenSSL", function: "OpenSSL_version"),
        Library(name: "PROJ", function: "proj_info"),
    ]

    /// The library's own version; `nil` if it is not loaded.
    ///
    /// Called by name, because the tool imports no C module, and the libraries' Swift modules do not need this
    /// function.
    var version: String? {
        guard let symbol = dlsym(nil, function) else { return nil }
        switch name {
        case "PROJ": return Self.releaseInFileName(of: "libproj.so.")
        case "OpenSSL":
            typealias Ask = @convention(c) (CInt) -> UnsafePointer<CChar>?
            // "OpenSSL 3.0.17 1 Jul 2025"
            let words = unsafeBitCast(symbol, to: Ask.self)(0).map { String(cString: $0).split(separator: " ") }
            return words.flatMap { $0.count > 1 ? String($0[1]) : nil }
        default:
            typealias Ask = @convention(c) () -> UnsafePointer<CChar>?
            let text = unsafeBitCast(symbol, to: Ask.self)().map { String(cString: $0) }
            // Expat's text begins with its name: "expat_2.5.0".
            return text.map { $0.hasPrefix("expat_") ? String($0.dropFirst(6)) : $0 }
        }
    }

    /// PROJ gives its version only in a structure. Its file is `libproj.so.25.9.1.1`, in which 25 is the interface.
    private static func releaseInFileName(of file: String) -> String? {
        guard let maps = DataDirectory.read("/proc/self/maps", atMost: 4 << 20) else { return nil }
        for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
            guard let name = line.split(separator: "/").last, name.hasPrefix(file) else { continue }
            let release = name.dropFirst(file.count).split(separator: ".").dropFirst()
            if !release.isEmpty { return release.joined(separator: ".") }
        }
        return nil
    }
}
