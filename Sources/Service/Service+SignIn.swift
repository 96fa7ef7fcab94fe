import Answers
import Cryptography
import HTTPInterface
import Log
import Whereabouts

extension Service {
    /// A one-time code that signs a browser in as the operator; `nil` if it cannot be recorded, for example on a full
    /// disk.
    package func operatorSignInCode() -> String? {
        let hash = Secret.hash(of: adminToken)
        let code = InvitationCode(randomBytes(32))
        guard let caller = log.withStanding({ $0.caller(tokenHash: hash, at: decisions.clock()) }),
            (try? log.appendAndWait(
                .makeSignInCode(for: .operator, hash: code.hash), by: caller, correlation: .random())) != nil
        else { return nil }
        return code.text
    }
}
