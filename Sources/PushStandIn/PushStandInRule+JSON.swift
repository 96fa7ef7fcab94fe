internal import JSON

// The script of a stand-in is a JSON array of rules, in a file or in a courier's line. A rule has its fault, the
// fault's parameters, and the pushes that it applies to:
//
//     [{"fault":"answer","status":503,"reason":"ServiceUnavailable","retryAfter":2,"skip":10,"times":3},
//      {"fault":"reset","errorCode":7,"times":null,"share":0.02}]

/// An error in a script, in one sentence.
package struct FaultScriptError: Error, Equatable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}

extension PushStandInRule {
    /// Rules of one script at most.
    private static let rulesMax = 1000

    /// Reads a script.
    ///
    /// - Throws: ``FaultScriptError`` naming the rule, counted from 1, and the member that cannot be.
    package static func script(_ json: [UInt8]) throws(FaultScriptError) -> [PushStandInRule] {
        let document: JSONDocument
        do throws(JSONError) { document = try JSONDocument.parse(json) } catch {
            throw FaultScriptError("The script is not JSON: \(error)")
        }
        return try script(document.root)
    }

    static func script(_ value: JSONValue) throws(FaultScriptError) -> [PushStandInRule] {
        guard let items = value.array else { throw FaultScriptError("A script is a JSON array of rules.") }
        var rules: [PushStandInRule] = []
        for item in items {
            guard rules.count < rulesMax else { throw FaultScriptError("A script has at most \(rulesMax) rules.") }
            rules.append(try RuleReader(item, number: rules.count + 1).rule())
        }
        return rules
    }
}

/// Reads one rule and notices members that do not belong to it.
private struct RuleReader {
    private let members: [String: JSONValue]
    private let number: Int
    private var unread: Set<String>

    init(_ value: JSONValue, number: Int) throws(FaultScriptError) {
        self.number = number
        guard let members = value.members else { throw FaultScriptError("Rule \(number) is no object.") }
        var byName: [String: JSONValue] = [:]
        for (key, value) in members { byName[key] = value }
        self.members = byName
        unread = Set(byName.keys)
    }

    consuming func rule() throws(FaultScriptError) -> PushStandInRule {
        guard let word = members["fault"]?.string else { throw wrong("fault", "the name of a fault") }
        unread.remove("fault")
        let fault = try fault(word)
        let skip = try whole("skip", 0...Int64.max, else: 0)
        let times: Int? =
            if members["times"]?.isNull == true { nil } else { Int(try whole("times", 1...Int64.max, else: 1)) }
        unread.remove("times")
        var share = 1.0
        if let value = members["share"] {
            guard let number = value.double, (0...1).contains(number) else { throw wrong("share", "from 0 to 1") }
            share = number
            unread.remove("share")
        }
        if let key = unread.min() { throw FaultScriptError("Rule \(number): \"\(key)\" is no member of \(word).") }
        return PushStandInRule(fault, skip: Int(skip), times: times, share: share)
    }

    private mutating func fault(_ word: String) throws(FaultScriptError) -> PushStandInFault {
        switch word {
        case "none": return .none
        case "answer":
            let retryAfter = members["retryAfter"] == nil ? nil : Int(try whole("retryAfter", 0...86_400))
            let retryDate = members["retryDate"] == nil ? nil : Int(try whole("retryDate", 0...86_400))
            let timestamp = members["timestamp"] == nil ? nil : try whole("timestamp", 0...Int64.max)
            return .answer(
                status: Int(try whole("status", 200...599)), reason: try text("reason"), timestampMs: timestamp,
                retryAfterSeconds: retryAfter, retryDateSeconds: retryDate)
        case "delay": return .delay(ms: try whole("ms", 0...600_000))
        case "reset": return .reset(errorCode: UInt32(try whole("errorCode", 0...13, else: 2)))
        case "resetAfterAcceptance":
            return .resetAfterAcceptance(errorCode: UInt32(try whole("errorCode", 0...13, else: 2)))
        case "goAwayBefore":
            return .goAwayBefore(
                reason: try text("reason", else: "Shutdown"),
                unprocessed: Int(try whole("unprocessed", 1...10_000, else: 1)))
        case "goAwayAfter": return .goAwayAfter(reason: try text("reason", else: "Shutdown"))
        case "close": return .close
        case "closeAfterAcceptance": return .closeAfterAcceptance
        case "blackHole": return .blackHole
        case "expireProviderToken": return .expireProviderToken
        case "noAnswer": return .noAnswer
        case "noAnswerAfterAcceptance": return .noAnswerAfterAcceptance
        case "mute": return .mute(answersEvery: Int(try whole("answersEvery", 0...1_000_000, else: 0)))
        case "maxConcurrentStreams": return .maxConcurrentStreams(Int(try whole("streams", 0...1_000_000)))
        case "refuseConnection": return .refuseConnection
        case "silentConnection": return .silentConnection
        default: throw FaultScriptError("Rule \(number): there is no fault \"\(word.prefix(40))\".")
        }
    }

    private mutating func whole(
        _ key: String, _ range: ClosedRange<Int64>, else usual: Int64? = nil
    ) throws(FaultScriptError) -> Int64 {
        unread.remove(key)
        guard let value = members[key] else {
            if let usual { return usual }
            throw wrong(key, "given")
        }
        guard let number = value.int, range.contains(number) else {
            throw wrong(key, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private mutating func text(_ key: String, else usual: String? = nil) throws(FaultScriptError) -> String {
        unread.remove(key)
        guard let value = members[key] else {
            if let usual { return usual }
            throw wrong(key, "given")
        }
        guard let text = value.string, text.utf8.count <= 1000 else { throw wrong(key, "a text of at most 1000 bytes") }
        return text
    }

    private func wrong(_ key: String, _ wanted: String) -> FaultScriptError {
        FaultScriptError("Rule \(number): \"\(key)\" must be \(wanted).")
    }
}
