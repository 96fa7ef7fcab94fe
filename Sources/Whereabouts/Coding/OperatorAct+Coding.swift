// The form of an act in the clear part of its event: `operator-act` in `events.cddl`.

extension OperatorAct {
    func write(to fields: inout FieldWriter) {
        fields.integer(1, code)
        fields.text(2, projection)
        fields.integer(3, version)
        switch self {
        case .retryMessage(let webhook, let letter):
            fields.integer(4, webhook.rawValue)
            fields.integer(5, letter.rawValue)
        case .failed(let number): fields.integer(6, number)
        default: break
        }
    }

    private var code: Int64 {
        switch self {
        case .rebuildProjection: 1
        case .activateProjection: 2
        case .rollBackProjection: 3
        case .pruneProjections: 4
        case .backUp: 5
        case .retryMessage: 6
        case .failed: 7
        }
    }

    init(_ fields: inout FieldReader) throws(CBORError) {
        func require<T>(_ value: T?) throws(CBORError) -> T {
            guard let value else { throw .unexpected }
            return value
        }
        let code = try require(try fields.integer(1))
        let name = try fields.text(2)
        switch code {
        case 1: self = .rebuildProjection(try require(name), version: try require(try fields.integer(3)))
        case 2: self = .activateProjection(try require(name))
        case 3: self = .rollBackProjection(try require(name))
        case 4: self = .pruneProjections(name)
        case 5: self = .backUp
        case 6:
            self = .retryMessage(
                WebhookID(rawValue: try require(try fields.integer(4))),
                DeadLetterID(rawValue: try require(try fields.integer(5))))
        case 7: self = .failed(try require(try fields.integer(6)))
        default: throw .unexpected
        }
    }
}
