import JSON
import Whereabouts

/// `--as-of`: the answer as of an earlier moment, beside the present one.
enum PastAnswer {
    /// The parameter of the request: a time, or a number of the log for the operator.
    static let option = Option<(name: String, value: String)>(
        name: "as-of", placeholder: "TIME|NUMBER",
        help: "answer as of then; a whole number below 1000000000 is a number of the log, for the operator",
        form: "a time, for example 2026-05-01T08:00, or a number of the log, for example 31", read: parameter)

    static let help = """
        With --as-of, the answer is folded again from the person's events that were recorded until then, and a note
        compares it with what is known now. Names and rights are those of now. It is for the person and the operator,
        and takes at most 50,000 events.
        """

    /// Smaller numbers are events of the log. As Unix seconds they would be times before September 2001.
    private static let smallestTime: Int64 = 1_000_000_000

    private static func parameter(_ text: String) -> (name: String, value: String)? {
        if let number = Int64(text), number < smallestTime {
            return number > 0 ? ("as-of-number", text) : nil
        }
        guard let time = LocalTime.parse(text) else { return nil }
        var writer = JSONWriter()
        writer.unixSeconds(milliseconds: time.milliseconds)
        return ("as-of", String(decoding: writer.bytes, as: UTF8.self))
    }

    /// The difference between a list as it was known and as it is known, in one sentence.
    static func comparison(_ then: [JSONValue], _ now: [JSONValue]) -> String {
        let (known, present) = (Set(then.map(\.jsonLine)), Set(now.map(\.jsonLine)))
        let same = known.intersection(present).count
        return
            "Known then: \(then.count). Known now: \(now.count). The same in both: \(same); only then: \(known.count - same); only now: \(present.count - same)."
    }
}
