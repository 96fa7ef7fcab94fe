import Glibc
import Synchronization
import Testing

@testable import MQTT

@Suite struct BrokerSubscriptionTests {
    /// Runs a subscription on its own thread while `body` runs.
    private func withSubscription(
        port: Int, take: @escaping @Sendable (BrokerMessage) -> Bool, _ body: () throws -> Void
    ) rethrows {
        let configuration = BrokerConfiguration(host: "127.0.0.1", port: port, clientID: "c", topic: "owntracks/+/+/#")
        let subscription = BrokerSubscription(configuration, take: take) { _ in }
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<BrokerSubscription>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(subscription).toOpaque())
        defer {
            subscription.stop()
            pthread_join(thread, nil)
        }
        try body()
    }

    @Test func `a message is acknowledged after it was taken, and one that is not taken comes again`() throws {
        struct Taken: Equatable {
            let payload: String
            var isRetained = false
            /// Whether the broker had the acknowledgement while the message was still being taken.
            var wasAcknowledged = false
        }
        let broker = try ScriptedBroker()
        let descriptor = Atomic<Int32>(-1)
        let taken = Mutex<[Taken]>([])
        try withSubscription(port: broker.port) { message in
            var poll = pollfd(fd: descriptor.load(ordering: .acquiring), events: Int16(POLLIN), revents: 0)
            let wasAcknowledged = Glibc.poll(&poll, 1, 50) > 0
            let payload = String(decoding: message.payload, as: UTF8.self)
            return taken.withLock { taken in
                taken.append(
                    Taken(payload: payload, isRetained: message.isRetained, wasAcknowledged: wasAcknowledged))
                return taken.count != 2
            }
        } _: {
            do {
                let first = try broker.session()
                descriptor.store(first.descriptor, ordering: .releasing)
                first.publish("owntracks/a/b", "one", identifier: 1, retained: true)
                #expect(try first.expect(type: 4) == [0, 1])
                first.publish("owntracks/a/b/event", "two", identifier: 2)
                // Not taken: the connection ends without a word.
                #expect(first.packet() == nil)
            }
            let second = try broker.session()
            descriptor.store(second.descriptor, ordering: .releasing)
            second.publish("owntracks/a/b/event", "two", identifier: 2)
            #expect(try second.expect(type: 4) == [0, 2])
        }
        #expect(
            taken.withLock { $0 } == [
                Taken(payload: "one", isRetained: true), Taken(payload: "two"), Taken(payload: "two"),
            ])
    }

    /// `select` has no bit for a descriptor above 1,023.
    @Test func `a message is taken while more than 1,024 descriptors are open`() throws {
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        limit.rlim_cur = limit.rlim_max
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let broker = try ScriptedBroker()
        let others = (0..<1100).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
        defer { for descriptor in others where descriptor >= 0 { close(descriptor) } }
        #expect(others.contains { $0 > 1024 })
        let taken = Atomic<Int>(0)
        try withSubscription(port: broker.port) { _ in
            taken.add(1, ordering: .relaxed)
            return true
        } _: {
            let session = try broker.session()
            session.publish("owntracks/a/b", "one", identifier: 1)
            #expect(try session.expect(type: 4) == [0, 1])
        }
        #expect(taken.load(ordering: .relaxed) == 1)
    }

    @Test func `it ends while no broker is there`() throws {
        let port = try ScriptedBroker().port
        let taken = Atomic<Int>(0)
        withSubscription(port: port) { _ in
            taken.add(1, ordering: .relaxed)
            return true
        } _: {
        }
        #expect(taken.load(ordering: .relaxed) == 0)
    }
}
