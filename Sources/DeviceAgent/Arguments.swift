/// The arguments of a verb: options with a value, flags, and the rest. Each may come once, options anywhere.
struct Arguments {
    private(set) var values: [String: String] = [:]
    private(set) var flags: Set<String> = []
    private(set) var rest: [String] = []

    /// - Throws: ``UsageError`` for an option that is not known, comes twice or lacks its value.
    init(_ arguments: [String], options: Set<String>, flags known: Set<String> = []) throws(UsageError) {
        var iterator = arguments.makeIterator()
        while let argument = iterator.next() {
            if known.contains(argument) {
                flags.insert(argument)
            } else if options.contains(argument) {
                guard let value = iterator.next() else { throw UsageError("\(argument) needs a value.") }
                guard values.updateValue(value, forKey: argument) == nil else {
                    throw UsageError("\(argument) is given twice.")
                }
            } else if argument.hasPrefix("-") {
                throw UsageError("There is no option \(argument) here.")
            } else {
                rest.append(argument)
            }
        }
    }
}

/// An error in the arguments, in one sentence.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
