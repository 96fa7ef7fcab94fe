import Glibc

/// Finds the installed gazetteer.
package enum GazetteerLocation {
    /// The path in `WHEREABOUTS_GAZETTEER`, else `data/places.gazetteer` in the nearest directory above the program,
    /// else the place of an installed package; `nil` if there is none of these.
    package static func find() -> String? {
        if let path = getenv("WHEREABOUTS_GAZETTEER") { return String(cString: path) }
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        var directory =
            count > 0 ? String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
        while let slash = directory.lastIndex(of: "/") {
            directory = String(directory[..<slash])
            let candidate = directory + "/data/places.gazetteer"
            if access(candidate, R_OK) == 0 { return candidate }
        }
        let installed = "/usr/share/whereabouts/places.gazetteer"
        return access(installed, R_OK) == 0 ? installed : nil
    }
}
