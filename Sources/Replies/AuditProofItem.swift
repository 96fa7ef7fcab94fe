/// How far an entry of the audit is proven: by the person's own log, its last checkpoint, and witnesses.
package struct AuditProofItem: Reply, Hashable {
    /// `logged` for an entry of the person's log, `signed` if the last checkpoint of the log covers it, `witnessed` if
    /// witnesses have cosigned a checkpoint that covers it.
    package var state: String
    /// The names of these witnesses; `nil` without any.
    package var witnesses: [String]?
    /// `erased` if the key of the contents was destroyed on purpose, `unreadable` if it is lost; `nil` if the contents
    /// can be read.
    package var contents: String?

    package init(state: String, witnesses: [String]? = nil, contents: String? = nil) {
        (self.state, self.witnesses, self.contents) = (state, witnesses, contents)
    }

    package static var invented: Self { Self(state: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("state", .words(["logged", "signed", "witnessed"]), &state)
        try members.optional("witnesses", &witnesses)
        try members.optional("contents", .words(["erased", "unreadable"]), &contents)
    }

    /// For people: `in the log`, `signed` or `witnessed by NAME, NAME`, and `erased` or `unreadable` after a comma.
    package var words: String {
        let proven =
            switch state {
            case "logged": "in the log"
            case "witnessed": "witnessed by \((witnesses ?? []).joined(separator: ", "))"
            default: state
            }
        return [proven, contents].compactMap { $0 }.joined(separator: ", ")
    }
}
