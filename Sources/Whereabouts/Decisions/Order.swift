/// A command together with the type of its reply, for callers who use what the command made.
///
/// Its factory is below the decision of the command. For example, `Order.giveGrant(subject:requester:_:)` is the command
/// `Command.giveGrant` whose reply is a ``GrantID``. A caller who ignores the reply appends the command itself.
package struct Order<Reply: Sendable>: Sendable {
    /// The command that the writer decides.
    package let command: Command
    /// The reply in the form that the standing keeps for a repeated request; `nil` if it is of another type.
    private let reading: @Sendable (CommandReply) -> Reply?

    init(_ command: Command, _ reading: @escaping @Sendable (CommandReply) -> Reply?) {
        (self.command, self.reading) = (command, reading)
    }

    /// The command's own reply; `nil` for the reply of another command, or of none, such as the ``CommandReply/done``
    /// that is kept of a repeated report.
    package func read(_ reply: CommandReply) -> Reply? { reading(reply) }
}
