import Glibc

package struct FileFault: Error {
    let path: String
    let reason = String(cString: strerror(errno))
}

/// The whole content of a file.
package func contents(ofFile path: String) throws -> [UInt8] {
    guard let file = fopen(path, "r") else { throw FileFault(path: path) }
    defer { fclose(file) }
    return rest(of: file)
}

/// The remaining bytes of an open file or pipe.
func rest(of file: UnsafeMutablePointer<FILE>) -> [UInt8] {
    var all: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&part, 1, part.count, file), count > 0 { all += part[..<count] }
    return all
}

/// Writes a new file, or replaces one.
package func write(_ content: some Sequence<UInt8>, to path: String) throws {
    let content = Array(content)
    guard let file = fopen(path, "w") else { throw FileFault(path: path) }
    let written = fwrite(content, 1, content.count, file)
    guard fclose(file) == 0, written == content.count else { throw FileFault(path: path) }
}

/// Copies a file into one that only its owner may read.
package func copy(_ file: String, to copy: String) throws {
    try write(contents(ofFile: file), to: copy)
    guard chmod(copy, 0o600) == 0 else { throw FileFault(path: copy) }
}

/// Removes a file, or a folder with its content; does nothing if it does not exist.
package func remove(_ path: String) {
    for name in names(in: path) { remove("\(path)/\(name)") }
    Glibc.remove(path)
}

/// The names of a folder's entries, sorted.
package func names(in folder: String) -> [String] {
    guard let listing = opendir(folder) else { return [] }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
}

/// A new folder in the one for temporary files, removed with its content when the object is released.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/whereabouts-test-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil, "No temporary folder could be made.")
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { remove(path) }

    /// Makes a file in it, or replaces one.
    ///
    /// - Returns: its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let path = file(name)
        try TestSupport.write(text.utf8, to: path)
        return path
    }

    /// The path of a file in it.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The names of its entries, sorted.
    package var names: [String] { TestSupport.names(in: path) }
}
