/// One option of a command: its name, its value and how the value is read. A flag has no value.
struct Option<Value: Sendable>: OptionDeclaration {
    /// The name without dashes.
    let name: String
    /// An old name that the parser still accepts and the help does not show; `nil` without one.
    var formerName: String? = nil
    /// The name of the value in the help; `nil` for a flag.
    let placeholder: String?
    let help: String
    /// Whether it may be given more than once.
    var mayRepeat = false
    /// The form of the value, for the error about a wrong one, for example "a whole number".
    let form: String
    /// Reads the value; `nil` if the text has another form.
    let read: @Sendable (String) -> Value?

    func isOfForm(_ text: String) -> Bool { read(text) != nil }
}

/// An option with any type of value, for lists of options.
protocol OptionDeclaration: Sendable {
    var name: String { get }
    var formerName: String? { get }
    var placeholder: String? { get }
    var help: String { get }
    var mayRepeat: Bool { get }
    var form: String { get }
    func isOfForm(_ text: String) -> Bool
}

extension Option where Value == Bool {
    static func flag(_ name: String, help: String) -> Option<Bool> {
        Option(name: name, placeholder: nil, help: help, form: "", read: { _ in true })
    }
}

/// The arguments of a command that are not options.
enum Operands: Sendable {
    case none
    case one(String)
    case optional(String)
    /// One or more.
    case many(String)
    /// Any number, including none.
    case words(String)

    var usage: String? {
        switch self {
        case .none: nil
        case .one(let name): name
        case .optional(let name): "[\(name)]"
        case .many(let name): "\(name)…"
        case .words(let name): "[\(name)…]"
        }
    }

    func allows(_ count: Int) -> Bool {
        switch self {
        case .none: count == 0
        case .one: count == 1
        case .optional: count <= 1
        case .many: count >= 1
        case .words: true
        }
    }
}

/// One command: its name, its arguments and its function. Help, parsing and suggestions are generated from it.
struct Command: Sendable {
    /// One word, or a group and a verb: `person add`.
    let words: [String]
    let summary: String
    var operands = Operands.none
    var requires: [any OptionDeclaration] = []
    var accepts: [any OptionDeclaration] = []
    /// Further help text, in lines that fit a terminal.
    var details: String?
    /// Whether the command creates an installation if the data directory has none. The other commands refuse, so that a
    /// mistyped `--data` leaves nothing behind.
    var makesInstallation = false
    /// Where the command can work, which decides the global options that its help lists.
    var reach = Domain.service
    let run: @Sendable (Invocation) throws(ToolError) -> Void
    /// For a command of another program: executes it with the unparsed words after the command, and does not return.
    var passesOn: (@Sendable ([String]) throws(ToolError) -> Void)?

    /// The object that a command works on.
    enum Domain: Sendable {
        /// A service: that of a data directory, or a remote one.
        case service
        /// The files of a data directory on this computer.
        case files
        /// Neither of these.
        case nothing
    }

    var name: String { words.joined(separator: " ") }
    /// Every option that the parser accepts, so that ``House/path(of:)`` can refuse `--url` with a sentence.
    var options: [any OptionDeclaration] {
        let own = requires + accepts
        if passesOn != nil { return own + [GlobalOptions.help] }
        return own + GlobalOptions.all.filter { option in !own.contains { $0.name == option.name } }
    }

    /// The options that are useful with this command, for its help and for completion.
    var usefulOptions: [any OptionDeclaration] {
        let useless: [any OptionDeclaration] =
            switch reach {
            case .service: []
            case .files: GlobalOptions.elsewhere
            case .nothing: GlobalOptions.elsewhere + [GlobalOptions.data]
            }
        let own = requires + accepts
        return options.filter { option in
            own.contains { $0.name == option.name } || !useless.contains { $0.name == option.name }
        }
    }
}

/// The options of all commands.
enum GlobalOptions {
    static let data = Option(
        name: "data", placeholder: "DIR", help: "the data directory (default: ~/.local/state/whereabouts)",
        form: "a path", read: { $0.isEmpty ? nil : $0 })
    static let url = Option(
        name: "url", placeholder: "URL",
        help: "a remote service, for example https://where.example (or WHEREABOUTS_URL)",
        form: "an address, for example https://where.example", read: { $0.isEmpty ? nil : $0 })
    static let token = Option(
        name: "token", placeholder: "TOKEN", help: "the token for --url; safer in WHEREABOUTS_TOKEN or a profile",
        form: "a token", read: { $0.isEmpty ? nil : $0 })
    static let profile = Option(
        name: "profile", placeholder: "NAME", help: "a service stored by \"profile add\" (or WHEREABOUTS_PROFILE)",
        form: "a name", read: { $0.isEmpty ? nil : $0 })
    static let help = Option.flag("help", help: "show this text")
    static let all: [any OptionDeclaration] = [data, url, token, profile, help]
    /// The options that name a remote service.
    static let elsewhere: [any OptionDeclaration] = [url, token, profile]
}

/// A command with its arguments. Every value has the form of its option.
struct Invocation: Sendable {
    let command: Command
    let console: Console
    let operands: [String]
    fileprivate let texts: [String: [String]]
    /// The names of the commands that make an installation.
    let makers: [String]

    /// The value; `nil` if the option was not given.
    subscript<Value>(option: Option<Value>) -> Value? { all(option).first }

    /// The values of an option that may be given more than once, in their order.
    func all<Value>(_ option: Option<Value>) -> [Value] {
        precondition(takes(option), "\(command.name) declares its options.")
        return texts[option.name, default: []].compactMap { option.read($0) }
    }

    /// The value of an option as it was written; empty if it was not given.
    func text(of option: some OptionDeclaration) -> String { texts[option.name]?.first ?? "" }

    /// Whether the command has the option; for code that serves several commands.
    func takes(_ option: some OptionDeclaration) -> Bool { command.options.contains { $0.name == option.name } }

    /// The value of an option that the command requires.
    func required<Value>(_ option: Option<Value>) -> Value {
        guard let value = self[option] else { preconditionFailure("The parser has found every required option.") }
        return value
    }

    func has(_ flag: Option<Bool>) -> Bool { self[flag] != nil }
}

/// The result of parsing a command line.
enum Parsed {
    case invocation(Invocation)
    case help(Help)
    case passedOn(@Sendable ([String]) throws(ToolError) -> Void, arguments: [String])
}

extension Command {
    /// A command of another program, which parses its words.
    ///
    /// - Parameter accepts: The options for the help and the completion; the other program reads them.
    init(
        _ word: String, summary: String, operands: Operands = .none, requires: [any OptionDeclaration] = [],
        accepts: [any OptionDeclaration], details: String,
        passesOn: @escaping @Sendable ([String]) throws(ToolError) -> Void
    ) {
        self.init(
            words: [word], summary: summary, operands: operands, requires: requires, accepts: accepts, details: details,
            run: { _ in preconditionFailure("It is passed on.") }, passesOn: passesOn)
    }
}

/// Parses command lines by the declarations of the commands.
struct ArgumentParser {
    let commands: [Command]

    /// - Throws: ``ToolError/usage(_:)`` with one sentence that names the error and, if there is one, the nearest
    ///   correct word.
    func parse(_ arguments: [String], console: Console) throws(ToolError) -> Parsed {
        var rest = arguments[...]
        var texts: [String: [String]] = [:]
        while let word = rest.first, isOption(word) {
            rest = rest.dropFirst()
            try take(word, of: GlobalOptions.all, help: "whereabouts --help", from: &rest, into: &texts)
        }
        guard let first = rest.popFirst() else {
            guard texts[GlobalOptions.help.name] != nil else {
                throw .usage("Name a command, for example \"whereabouts ask\"; \"whereabouts --help\" lists them.")
            }
            return .help(.tool(commands))
        }
        let group = commands.filter { $0.words[0] == first }
        guard !group.isEmpty else {
            let names = commands.map { $0.words[0] }
            throw .usage(
                "There is no command \"\(first)\"\(hint(for: first, among: names, help: "whereabouts --help"))."
            )
        }
        guard let command = try command(of: group, first: first, from: &rest) else { return .help(.group(group)) }
        if let passesOn = command.passesOn {
            if rest.contains("--help") || rest.contains("-h") { return .help(.command(command)) }
            return .passedOn(passesOn, arguments: Array(rest))
        }

        var operands: [String] = []
        while let word = rest.popFirst() {
            if word == "--" {
                operands.append(contentsOf: rest)
                break
            }
            if isOption(word) {
                try take(
                    word, of: command.options, help: "whereabouts \(command.name) --help", from: &rest, into: &texts
                )
            } else {
                operands.append(word)
            }
        }
        if texts[GlobalOptions.help.name] != nil { return .help(.command(command)) }
        for option in command.requires where texts[option.name] == nil {
            throw .usage("\"\(command.name)\" needs --\(option.name)\(option.placeholder.map { " " + $0 } ?? "").")
        }
        guard command.operands.allows(operands.count) else {
            throw .usage(Self.wrongCount(of: operands, for: command))
        }
        return .invocation(
            Invocation(
                command: command, console: console, operands: operands, texts: texts,
                makers: commands.filter(\.makesInstallation).map(\.name)))
    }

    /// The command of a group; `nil` if the group's help is requested. A group may have a command without a verb, which
    /// is used if no verb follows.
    private func command(
        of group: [Command], first: String, from rest: inout ArraySlice<String>
    ) throws(ToolError) -> Command? {
        let verbs = group.compactMap { $0.words.count > 1 ? $0.words[1] : nil }
        if let verb = rest.first, !isOption(verb), !verbs.isEmpty {
            guard let command = group.first(where: { $0.words.last == verb && $0.words.count > 1 }) else {
                // "import FILE" beside "import undo ID".
                if let alone = group.first(where: { $0.words.count == 1 }), alone.operands.allows(1) { return alone }
                throw .usage(
                    "There is no command \"\(first) \(verb)\"\(hint(for: verb, among: verbs, help: "whereabouts \(first) --help"))."
                )
            }
            rest = rest.dropFirst()
            return command
        }
        if let alone = group.first(where: { $0.words.count == 1 }) { return alone }
        if rest.first == "--help" || rest.first == "-h" { return nil }
        throw .usage("Use one of \(verbs.map { "\"\(first) \($0)\"" }.joined(separator: ", ")).")
    }

    /// Parses an option and its value; the option's word has been read already.
    ///
    /// - Parameter help: The command that lists the options.
    private func take(
        _ word: String, of options: [any OptionDeclaration], help: String, from rest: inout ArraySlice<String>,
        into texts: inout [String: [String]]
    ) throws(ToolError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = word == "-h" ? "help" : String(parts[0].drop { $0 == "-" })
        guard word.hasPrefix("--") || word == "-h",
            let option = options.first(where: { [$0.name, $0.formerName].contains(name) })
        else {
            let names = options.map { "--" + $0.name }
            throw .usage(
                "There is no option \"\(parts[0])\" here\(hint(for: String(parts[0]), among: names, help: help))."
            )
        }
        guard option.mayRepeat || texts[option.name] == nil else { throw .usage("--\(option.name) is given twice.") }
        guard let placeholder = option.placeholder else {
            guard parts.count == 1 else { throw .usage("--\(option.name) takes no value.") }
            texts[option.name] = [""]
            return
        }
        guard let text = parts.count == 2 ? String(parts[1]) : rest.first.flatMap({ $0.hasPrefix("--") ? nil : $0 })
        else { throw .usage("--\(option.name) needs a value: --\(option.name) \(placeholder).") }
        if parts.count == 1 { rest = rest.dropFirst() }
        guard option.isOfForm(text) else { throw .usage("--\(option.name) must be \(option.form).") }
        texts[option.name, default: []].append(text)
    }

    /// Whether a word is an option. A coordinate that begins with a minus sign is not.
    private func isOption(_ word: String) -> Bool {
        guard word.hasPrefix("-"), word.count > 1, let second = word.dropFirst().first else { return false }
        return word != "--" && !(second.isNumber || second == ".")
    }

    private static func wrongCount(of operands: [String], for command: Command) -> String {
        guard let usage = command.operands.usage else {
            return "\"\(command.name)\" takes no \"\(operands[0])\"; see \"whereabouts \(command.name) --help\"."
        }
        if operands.isEmpty { return "\"\(command.name)\" needs \(usage)." }
        return "\"\(command.name)\" takes \(usage), but \(operands.count) were given."
    }
}

/// The nearest of `names`, with a preference for those with the same beginning, or the command that lists them if none
/// is near.
private func hint(for word: String, among names: [String], help: String) -> String {
    let near = names.map { (name: $0, distance: $0.hasPrefix(word) ? 0 : editDistance(word, $0)) }
        .min { $0.distance < $1.distance }
    guard let near, near.distance <= max(1, word.count / 3) else {
        return "; \"\(help)\" lists them"
    }
    return "; the nearest is \"\(near.name)\""
}

/// The insertions, deletions, replacements and swaps of neighboring characters that turn one word into another (optimal
/// string alignment). Words are short.
func editDistance(_ one: String, _ other: String) -> Int {
    let (a, b) = (Array(one), Array(other))
    var rows = [Array(0...b.count)]
    for i in a.indices {
        var row = [i + 1]
        for j in b.indices {
            var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, rows[i - 1][j - 1] + 1) }
            row.append(cost)
        }
        rows.append(row)
    }
    return rows[a.count][b.count]
}
