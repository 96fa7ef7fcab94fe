import Answers
package import HTTPInterface
import Replies
import Whereabouts

extension AccountEndpoints {
    /// Accounts that people open with a code.
    package var operations: [Operation] {
        [
            .change(
                APIPath.accountInvitations.text, invite,
                group: .people, summary: "Create an account invitation.",
                description:
                    "For the operator, or a person (scope `manage`) with at most 20 open ones. The code opens one account and is shown only once.",
                access: .token(.manage), discloses: .command,
                body: Operation.Body(
                    Schema.body(optional: ["expires": Schema.timeGiven]), named: "NewAccountInvitation"),
                answer: Operation.Answer(
                    Schema.made(MadeInvitation.self), named: "AddedAccountInvitation")),
            Operation(
                "GET", APIPath.accountInvitations.text, .answer(list),
                group: .people, summary: "List your open account invitations.",
                description: "Codes are not shown.", access: .token(.manage),
                discloses: .noPerson("The caller's own open codes: references and times."),
                answer: Operation.Answer(
                    Schema.page(
                        Schema.object(of: AccountInvitationItem.self),
                        atMost: Limits.accountInvitationsOfOperator), pageOf: "AccountInvitation")),
            .command(
                "DELETE", APIPath.accountInvitation.text, decisions.done(by: withdraw),
                group: .people, summary: "Withdraw an account invitation.",
                description: "The code stops working.", access: .token(.manage)),
            .change(
                APIPath.accounts.text, open,
                group: .people, summary: "Open an account with a code.",
                description:
                    "Without a token. The handle is `name` and four characters. The token is shown only once. A wrong, used, withdrawn or expired code is 404.",
                access: .anybody, discloses: .command,
                body: Operation.Body(
                    Schema.body([
                        "code": Schema.text,
                        "name": Schema.pattern("^[a-z0-9][a-z0-9._-]{0,\(Limits.accountNameCharacters - 1)}$"),
                    ]), named: "NewAccount", example: ["code": "example-code", "name": "carl"]),
                answer: Operation.Answer(
                    Schema.made(OpenedAccount.self), named: "AddedAccount")),
        ]
    }
}
