internal import Synchronization

/// Counts of a server's work since its start.
package struct HTTPServerCounters: Sendable, Equatable {
    /// Connections accepted, and those of them still open.
    package var connectionsAccepted = 0, connectionsOpen = 0
    /// Requests handed to the handler, and those not answered yet.
    package var requests = 0, requestsWaiting = 0
    /// Answers by the first digit of their status, the server's own refusals among them; index 0 is 1xx, 4 is 5xx.
    /// Malformed requests that never became one (400, 431) are not counted.
    package var answersByClass = [0, 0, 0, 0, 0]
    /// Requests refused because their body was too long.
    package var bodiesTooLong = 0
    /// Connections cut because a request, or the reading of its answer, took too long.
    package var cutByDeadline = 0
    /// Bytes of bodies received, and of bodies handed over to be sent.
    package var bodyBytesReceived = 0, bodyBytesSent = 0
}

/// The counters that the server's thread changes and any thread reads.
final class LiveCounters: Sendable {
    let connectionsAccepted = Atomic(0), connectionsOpen = Atomic(0)
    let requests = Atomic(0), requestsWaiting = Atomic(0)
    let informational = Atomic(0), successful = Atomic(0), redirections = Atomic(0)
    let clientErrors = Atomic(0), serverErrors = Atomic(0)
    let bodiesTooLong = Atomic(0), cutByDeadline = Atomic(0)
    let bodyBytesReceived = Atomic(0), bodyBytesSent = Atomic(0)

    func countAnswer(status: Int) {
        switch status {
        case ..<200: informational.add(1, ordering: .relaxed)
        case ..<300: successful.add(1, ordering: .relaxed)
        case ..<400: redirections.add(1, ordering: .relaxed)
        case ..<500: clientErrors.add(1, ordering: .relaxed)
        default: serverErrors.add(1, ordering: .relaxed)
        }
    }

    /// Each figure is right; they may be of slightly different times.
    func snapshot() -> HTTPServerCounters {
        HTTPServerCounters(
            connectionsAccepted: connectionsAccepted.load(ordering: .relaxed),
            connectionsOpen: connectionsOpen.load(ordering: .relaxed),
            requests: requests.load(ordering: .relaxed),
            requestsWaiting: requestsWaiting.load(ordering: .relaxed),
            answersByClass: [
                informational.load(ordering: .relaxed), successful.load(ordering: .relaxed),
                redirections.load(ordering: .relaxed), clientErrors.load(ordering: .relaxed),
                serverErrors.load(ordering: .relaxed),
            ],
            bodiesTooLong: bodiesTooLong.load(ordering: .relaxed),
            cutByDeadline: cutByDeadline.load(ordering: .relaxed),
            bodyBytesReceived: bodyBytesReceived.load(ordering: .relaxed),
            bodyBytesSent: bodyBytesSent.load(ordering: .relaxed))
    }
}
