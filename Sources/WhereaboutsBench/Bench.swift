import Glibc

/// The subcommands.
enum Bench {
    private static let usage = """
        whereabouts-bench append --dir DIR [--events N] [--warm N] [--outstanding N] [--devices N]
        whereabouts-bench restart --dir DIR [--events N] [--devices N]
        whereabouts-bench refold --dir DIR [--events N] [--devices N] [--threads N] [--only PROJECTION]
        whereabouts-bench mixed --dir DIR [--events N] [--devices N]
        whereabouts-bench verify --dir DIR
        whereabouts-bench identities --dir DIR [--fixes N] [--devices N] [--lookups N]
        whereabouts-bench gazetteer --data FILE [--points N]
        whereabouts-bench visits [--fixes N] [--interval SECONDS] [--regions N] [--late N]
        whereabouts-bench read-file --file FILE
        whereabouts-bench write-file --form FORM --file FILE [--fixes N]
        whereabouts-bench ask --dir DIR [--asks N] [--outstanding N] [--each N] [--phones N]
        whereabouts-bench question --dir DIR --tool FILE [--questions N] [--outstanding N] [--phones N]
        whereabouts-bench question-writes --port N --pid N [--questions N] [--outstanding N]
        whereabouts-bench append-load --dir DIR --acks FILE.ack [--events N] [--outstanding N] [--devices N]
        whereabouts-bench check-crash
        whereabouts-bench push-credentials --dir DIR
        whereabouts-bench push --port N --dir DIR [--pushes N] [--in-flight N]
        whereabouts-bench push-events --port N --dir DIR [--pushes N]

        """

    static func run(_ arguments: [String]) -> Int32 {
        do {
            let options = try Options(arguments.dropFirst())
            switch arguments.first {
            case "append": try AppendBench(options).run()
            case "restart": try RestartBench(options).run()
            case "refold": try RefoldBench(options).run()
            case "mixed": try MixedBench(options).run()
            case "verify": try VerifyBench(options).run()
            case "identities": try IdentitiesBench(options).run()
            case "gazetteer": try GazetteerBench(options).run()
            case "visits": try VisitBench(options).run()
            case "read-file": try ReadFileBench(options).run()
            case "write-file": try WriteFileBench(options).run()
            case "ask": try AskBench(options).run()
            case "question": try QuestionBench(options).run()
            case "question-writes": try QuestionWritesBench(options).run()
            case "append-load": try AppendLoad(options).run()
            case "check-crash": CrashCheck.serve()
            case "push-credentials": try PushCredentials.run(options)
            case "push": try PushBench(options).run()
            case "push-events": try PushEventsBench(options).run()
            default: throw UsageError()
            }
            return 0
        } catch is UsageError {
            complain(usage)
            return 2
        } catch {
            complain("whereabouts-bench: \(error)\n")
            return 3
        }
    }

    static func complain(_ text: String) {
        var text = text
        text.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
    }
}

struct UsageError: Error {}

/// `--name value` pairs; anything else is a usage error.
struct Options {
    private var values: [String: String] = [:]

    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var iterator = arguments.makeIterator()
        while let name = iterator.next() {
            guard name.hasPrefix("--"), let value = iterator.next() else { throw UsageError() }
            values[String(name.dropFirst(2))] = value
        }
    }

    func text(_ name: String) throws(UsageError) -> String {
        guard let value = values[name] else { throw UsageError() }
        return value
    }

    func text(_ name: String, default standard: String) -> String { values[name] ?? standard }

    func number(_ name: String, default standard: Int) throws(UsageError) -> Int {
        guard let value = values[name] else { return standard }
        guard let number = Int(value), number >= 0 else { throw UsageError() }
        return number
    }
}

/// Nanoseconds of a clock.
func nanoseconds(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// One line on standard output, in one write.
func printLine(_ bytes: [UInt8]) {
    (bytes + [10]).withUnsafeBytes { _ = write(1, $0.baseAddress, $0.count) }
}
