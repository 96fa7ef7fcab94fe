/// Apple's push environment; each device token belongs to one of the two.
package enum PushEnvironment: Int64, Sendable, CaseIterable {
    /// Tokens for apps from the App Store, TestFlight and enterprise distribution.
    case production = 0
    /// Tokens for apps that Xcode installs.
    case development = 1
    /// The word in requests and answers.
    package var word: String { self == .production ? "production" : "development" }
}
