internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The sealing of an app, with the way to ask the service who may open what.
struct Sealing: Sendable {
    let sealing: any LocationSealing
    private let account: ServiceAccount
    private let network: any RequestSending

    init(_ sealing: any LocationSealing, account: ServiceAccount, network: any RequestSending) {
        (self.sealing, self.account, self.network) = (sealing, account, network)
    }

    /// Asks for the open questions and the readers of the history. `completion` is called once, on any thread, with the service's
    /// answer, or with `nil` if there is none; then nothing can be sealed.
    func askQuestions(completion: @escaping @Sendable (Data?) -> Void) {
        let path = "/v1/devices/\(account.device)/questions"
        var request = URLRequest(url: account.service.appendingPathComponent(path))
        request.timeoutInterval = Outbox.patienceSeconds
        request.setValue("Bearer \(account.reportingKey)", forHTTPHeaderField: "Authorization")
        network.send(request) { result in
            if case .success(let answer) = result, answer.status == 200 {
                completion(answer.body)
            } else {
                completion(nil)
            }
        }
    }
}
