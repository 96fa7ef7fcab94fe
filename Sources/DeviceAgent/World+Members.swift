internal import Foundation
internal import LocationPush
internal import PushStandIn
internal import Synchronization

extension World {
    /// One phone and its person.
    final class Member {
        let handle: String
        let phone: SimulatedPhone
        let line: Line
        let weather: Weather
        let token: Token
        let habits: WorldScenario.Phones
        var now: Date
        /// When the token was changed and the app was opened last.
        var tokenSince: Date
        /// Whether the service may still push to a token that has ended.
        var tokenHasEnded = false
        var openSince: Date

        init(
            handle: String, phone: SimulatedPhone, line: Line, weather: Weather, token: Token,
            habits: WorldScenario.Phones, now: Date
        ) {
            (self.handle, self.phone, self.line, self.weather) = (handle, phone, line, weather)
            (self.token, self.habits) = (token, habits)
            (self.now, tokenSince, openSince) = (now, now, now)
        }

        func run(until date: Date) {
            guard date > now else { return }
            now = date
            phone.run(until: date)
        }
    }

    /// The device token that the system gave last; `nil` from when it ends to when the app asks for another one.
    final class Token {
        var bytes: Data?
    }

    /// A line to the courier, shared by some phones; registration may come from several threads.
    final class Line: @unchecked Sendable {
        private let lock = NSLock()
        private let client: CourierClient

        init(port: UInt16) { client = CourierClient(port: port) }

        func register() throws -> Data {
            try lock.withLock {
                Data(try client.register(bundleID: World.bundleID, environment: .development, timeoutMs: 30_000))
            }
        }

        func nextPush(waitingMs: Int64) throws -> CourierPush? {
            try lock.withLock { try client.nextPush(timeoutMs: waitingMs) }
        }

        func disconnect() { lock.withLock { client.disconnect() } }
    }
}

/// Hands out 0, 1, 2 … to several threads.
final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    func take() -> Int { value.wrappingAdd(1, ordering: .relaxed).oldValue }

    /// How many were handed out.
    var count: Int { value.load(ordering: .relaxed) }
}
