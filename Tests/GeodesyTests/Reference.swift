import Foundation

/// Second opinions from other programs: tables under `Tests/Conformance`, and python packages where they are installed.
enum Reference {
    private static let python = ProcessInfo.processInfo.environment["WHEREABOUTS_PYTHON"]
    private static let conformance = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Conformance")

    /// Whether `WHEREABOUTS_PYTHON` names a python with geographiclib and pyproj.
    static let isAvailable: Bool = {
        guard python != nil else { return false }
        return (try? run(["-c", "import geographiclib, pyproj"], input: "")) != nil
    }()

    struct Failure: Error { let status: Int32 }

    /// The answers of `geodesy_reference.py` to rows of numbers, one row each.
    static func answers(_ operation: String..., to questions: [[Double]]) throws -> [[Double]] {
        let input = questions.map { $0.map { "\($0)" }.joined(separator: " ") }.joined(separator: "\n")
        let script = conformance.appending(path: "geodesy_reference.py").path
        return try run([script] + operation, input: input).split(separator: "\n").map { line in
            line.split(separator: " ").map { Double($0) ?? .nan }
        }
    }

    /// The rows of a table under `Tests/Conformance`, without comments and empty lines.
    static func rows(of table: String) throws -> [Substring] {
        try String(contentsOf: conformance.appending(path: table), encoding: .utf8)
            .split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    private static func run(_ arguments: [String], input: String) throws -> String {
        // A file, not a pipe: writing to a pipe while the other side writes back could block both.
        let questions = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try input.write(to: questions, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: questions) }
        let process = Process()
        let answers = Pipe()
        process.executableURL = URL(filePath: python ?? "")
        process.arguments = arguments
        process.standardInput = try FileHandle(forReadingFrom: questions)
        process.standardOutput = answers
        try process.run()
        let data = try answers.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
        return String(decoding: data, as: UTF8.self)
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014, DOI 10.1145/2714064.2660195): the same numbers on every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
