import Glibc

/// The source tree this test was built from.
enum Tree {
    /// The folder that holds `Package.swift`.
    static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    struct File: Sendable, CustomStringConvertible {
        /// From the root on.
        let path: String
        let text: String
        var description: String { path }
        /// The folder under `Sources` or `Tests`.
        var module: String { String(path.split(separator: "/")[1]) }
        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    }

    static let sources = swiftFiles(under: "Sources")

    static func entries(of folder: String) -> [String] {
        guard let entries = opendir("\(root)/\(folder)") else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    static func read(_ path: String) -> String? {
        guard let file = fopen("\(root)/\(path)", "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 {
            bytes.append(contentsOf: piece[..<count])
        }
        return ferror(file) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
    }

    static func swiftFiles(under folder: String) -> [File] {
        entries(of: folder).flatMap { name -> [File] in
            let path = "\(folder)/\(name)"
            if name.hasSuffix(".swift") { return read(path).map { [File(path: path, text: $0)] } ?? [] }
            return swiftFiles(under: path)
        }
    }
}
