@testable import Log
@testable import LogTests
@testable import Projections

extension LogScene {
    /// A log that keeps its standing in the file that a service uses.
    static func withStandingFile() -> LogScene {
        let scene = LogScene()
        scene.savedStanding = { StandingFile(directory: $0.projections) }
        return scene
    }
}
