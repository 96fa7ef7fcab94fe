import TestSupport

/// Second opinions of geographiclib and pyproj.
enum Reference {
    static let isAvailable = Foreign.hasPython(with: "geographiclib, pyproj")

    /// The answers of `geodesy_reference.py` to rows of numbers, one row each.
    static func answers(_ operation: String..., to questions: [[Double]]) throws -> [[Double]] {
        let input = questions.map { $0.map { "\($0)" }.joined(separator: " ") }.joined(separator: "\n")
        let script = Repository.conformance("geodesy_reference.py")
        return try Foreign.python(path: script, operation, input: input).split(separator: "\n").map { line in
            line.split(separator: " ").map { Double($0) ?? .nan }
        }
    }
}
