/// A question the system puts to the user.
public enum Prompt: String, Sendable, Equatable {
    /// iOS 7's only question: may this app use your location?
    case authorization
    /// Asked for When In Use, never asked before.
    case whenInUse
    /// Asked for Always, never asked before.
    case always
    /// Asked for Always while the app has When In Use.
    case changeToAlways
    /// The system's own question, when an app with a provisional Always first uses it.
    case keepAlways
    /// Asked for full accuracy for a while.
    case temporaryFullAccuracy
}

/// The user's choice.
public enum Choice: String, Sendable, Equatable {
    /// "Allow While Using App", and "Keep Only While Using" where that is the question; also the one "OK" of iOS 7.
    case whileUsing
    case allowOnce
    /// "Change to Always Allow".
    case always
    case dontAllow
}

/// How the user answers: each prompt takes the first answer for it that is not used up. Without one it is never
/// answered, and stays on the screen.
public struct UserScript: Sendable, Equatable {
    public struct Answer: Sendable, Equatable {
        public let prompt: Prompt
        public let choice: Choice
        /// Whether the switch "Precise" is on.
        public let precise: Bool
        public let delaySeconds: Double

        public init(_ prompt: Prompt, _ choice: Choice, precise: Bool = true, after delaySeconds: Double = 1) {
            (self.prompt, self.choice, self.precise, self.delaySeconds) = (prompt, choice, precise, delaySeconds)
        }
    }

    public private(set) var answers: [Answer]

    public init(_ answers: [Answer] = []) { self.answers = answers }

    mutating func take(_ prompt: Prompt) -> Answer? {
        answers.firstIndex { $0.prompt == prompt }.map { answers.remove(at: $0) }
    }
}
