extension KeyList {
    /// Goes through the keys within `limit` edits of `asked`, with their entries and the number of edits: a unit
    /// inserted, left out, replaced, or two exchanged, also where another was inserted or left out between them. Of
    /// several edits at most one may concern the first two units, which few people mistype twice. A text in Latin
    /// letters matches only keys in Latin letters.
    ///
    /// Half a millisecond or less: only keys that begin as an edited beginning of `asked` may are looked at.
    ///
    /// - Parameter limit: 1 or 2.
    func eachKey(
        within limit: Int, of asked: [UInt16], _ body: (_ key: [UInt16], _ entries: [Entry], _ edits: Int) -> Void
    ) {
        // Keys have 40 units at most.
        guard let automaton = EditAutomaton(asked, limit: limit) else { return }
        var walk = KeyWalk(self, automaton)
        while walk.next() {
            if let edits = walk.edits { body(walk.units, entries(at: walk.entriesBegin), edits) }
        }
    }
}

/// The prefixes of the search text that match a prefix of a key with up to two edits.
///
/// Bits in place of the rows of the usual table, one for each beginning (Wu and Manber 1992, "Fast text searching
/// allowing errors"), with exchanged units as one edit (Hyyrö 2003, "A bit-vector algorithm for computing Levenshtein
/// and Damerau edit distances"). The distance is that of Lowrance and Wagner 1975, "An extension of the
/// string-to-string correction problem".
private struct EditAutomaton {
    /// So many units at the beginning may be wrong by one edit only.
    private static let guardedUnits = 2
    static let unitsMax = 62

    /// By the number of edits, the beginnings that fit: bit n for that of n units.
    struct States {
        var none: UInt64 = 0
        var one: UInt64 = 0
        var two: UInt64 = 0
    }

    private let asked: [UInt16]
    private let limit: Int
    /// The units of `asked`, rising, each once.
    let units: [UInt16]
    /// Whether keys may contain only ASCII.
    private let isLatin: Bool
    /// The places of each ASCII unit in `asked`: bit n is set if the unit is at index n.
    private var latinMasks = [UInt64](repeating: 0, count: 128)
    /// The bits of all beginnings.
    private let all: UInt64

    init?(_ asked: [UInt16], limit: Int) {
        guard asked.count <= Self.unitsMax else { return nil }
        self.asked = asked
        self.limit = limit
        units = Set(asked).sorted()
        isLatin = asked.allSatisfy { $0 < 0x80 }
        all = 1 << (UInt64(asked.count) + 1) - 1
        for (index, unit) in asked.enumerated() where unit < 0x80 { latinMasks[Int(unit)] |= 1 << UInt64(index) }
    }

    /// Of the empty beginning.
    var start: States { States(none: 1, one: 0b11 & all, two: limit > 1 ? 0b111 & all : 0) }

    private func mask(_ unit: UInt16) -> UInt64 {
        if unit < 0x80 { return latinMasks[Int(unit)] }
        var mask: UInt64 = 0
        for index in asked.indices where asked[index] == unit { mask |= 1 << UInt64(index) }
        return mask
    }

    /// The state after the last of a key's prefixes is extended by one unit.
    ///
    /// - Parameters:
    ///   - states: the states of the prefixes of `key` of up to `count` units.
    func next(_ states: [States], _ key: [UInt16], _ count: Int, by unit: UInt16) -> States {
        let now = states[count]
        let mask = mask(unit)
        let (before, maskBefore) = count > 0 ? (states[count - 1], self.mask(key[count - 1])) : (States(), 0)
        let exchanged = maskBefore >> 1 & mask
        var next = States()
        next.none = (now.none & mask) << 1
        next.one =
            ((now.one & mask) << 1 | now.none | (now.none | next.none) << 1 | (before.none & exchanged) << 2) & all
        if limit > 1 {
            let (earlier, maskEarlier) = count > 1 ? (states[count - 2], self.mask(key[count - 2])) : (States(), 0)
            next.two = (now.two & mask) << 1 | now.one | (now.one | next.one) << 1 | (before.one & exchanged) << 2
            // Exchanged, with one left out or inserted between them.
            next.two |= (before.none & maskBefore >> 2 & mask) << 3 | (earlier.none & maskEarlier >> 1 & mask) << 2
            next.two &= all
        }
        return next
    }

    /// Whether any ending of a beginning of so many units may bring it within the limit.
    func isAlive(_ states: States, at count: Int) -> Bool {
        limit == 1 || count == Self.guardedUnits ? states.one != 0 : states.two != 0
    }

    /// Whether any unit at all may follow a beginning of so many units.
    func takesAny(_ states: States, at count: Int) -> Bool {
        limit == 1 || count + 1 == Self.guardedUnits ? states.none != 0 : states.one != 0
    }

    func admits(_ unit: UInt16) -> Bool { !isLatin || unit < 0x80 }

    /// The edits by which a whole key with these states differs; nil if more than the limit.
    func edits(_ states: States) -> Int? {
        let whole: UInt64 = 1 << UInt64(asked.count)
        if states.none & whole != 0 { return 0 }
        if states.one & whole != 0 { return 1 }
        return states.two & whole != 0 ? 2 : nil
    }
}

/// Goes from one key that an automaton accepts to the next, over all those between that it cannot accept.
private struct KeyWalk {
    /// Longer keys are cut; no automaton accepts them.
    private static let unitsMax = EditAutomaton.unitsMax + 3

    private let list: KeyList
    private let automaton: EditAutomaton
    private var block = 0
    private var at: Int
    private var blockEnd: Int
    /// So that a damaged file, whose blocks may seem to overlap, is not read over and over.
    private var keysLeft = KeyList.keysInBlock
    private(set) var entriesBegin = 0

    private var key = [UInt16](repeating: 0, count: unitsMax)
    private var count = 0
    /// The beginning that is looked for, so long.
    private var wanted = [UInt16](repeating: 0, count: unitsMax)
    private var length = 0
    /// Of the beginnings of the key, up to that of `known` units.
    private var states = [EditAutomaton.States](repeating: .init(), count: unitsMax + 1)
    private var known = 0

    init(_ list: KeyList, _ automaton: EditAutomaton) {
        self.list = list
        self.automaton = automaton
        at = list.begin(0)
        blockEnd = list.begin(1)
        states[0] = automaton.start
    }

    /// The key that was found.
    var units: [UInt16] { Array(key[..<count]) }

    /// Its edits.
    var edits: Int? { automaton.edits(states[count]) }

    /// Whether there is another key that is within the limit, and goes to it.
    mutating func next() -> Bool {
        guard read() else { return false }
        while true {
            if let dead = deadEnd() {
                guard findSuccessor(of: dead), seek() else { return false }
            } else if edits != nil {
                return true
            } else {
                guard read() else { return false }
            }
        }
    }

    /// How long the shortest beginning of the key is that nothing can follow; nil if there is none.
    private mutating func deadEnd() -> Int? {
        while known < count {
            let unit = key[known]
            guard automaton.admits(unit) else { return known + 1 }
            states[known + 1] = automaton.next(states, key, known, by: unit)
            known += 1
            if !automaton.isAlive(states[known], at: known) { return known }
        }
        return nil
    }

    /// Whether there is a beginning behind the key's first `dead` units that something may follow; the first such is
    /// wanted.
    private mutating func findSuccessor(of dead: Int) -> Bool {
        for place in (0..<dead).reversed() {
            let unit = key[place]
            if automaton.takesAny(states[place], at: place) {
                guard unit < .max, automaton.admits(unit + 1) else { continue }
                want(place, unit + 1)
                return true
            }
            let next = automaton.units.first { later in
                later > unit && automaton.isAlive(automaton.next(states, key, place, by: later), at: place + 1)
            }
            if let next {
                want(place, next)
                return true
            }
        }
        return false
    }

    /// The first `place` units of the key and another one.
    private mutating func want(_ place: Int, _ unit: UInt16) {
        for index in 0..<place { wanted[index] = key[index] }
        wanted[place] = unit
        length = place + 1
    }

    /// Goes to the first key that is not before the wanted one; `false` if there is none.
    private mutating func seek() -> Bool {
        let certain = min(known, length - 1)
        if block + 1 < list.blocks.count, isFirstBeforeWanted(of: block + 1) {
            // The next one is mostly near: first by doubling steps, then by halving.
            var step = 1
            while block + 2 * step < list.blocks.count, isFirstBeforeWanted(of: block + 2 * step) {
                step *= 2
            }
            var (low, high) = (block + step, min(block + 2 * step, list.blocks.count))
            while low + 1 < high {
                let middle = (low + high) / 2
                if isFirstBeforeWanted(of: middle) { low = middle } else { high = middle }
            }
            enter(low)
        }
        // The length of the common prefix of the key read last and the wanted one.
        var common = length - 1
        while read(common) {
            var same = 0
            while same < length, same < count, key[same] == wanted[same] { same += 1 }
            if same == length || same < count && key[same] > wanted[same] {
                known = min(certain, same)
                return true
            }
            common = same
        }
        return false
    }

    /// Whether the first key of a block is before the wanted one. It is read unit by unit, because this is the most
    /// frequent call.
    private func isFirstBeforeWanted(of block: Int) -> Bool {
        var at = list.begin(block)
        let size = list.head(at: &at).length
        let end = at + size
        var unit = 0
        while unit < length {
            guard at < end else { return true }
            let code = list.codes.start + 8 * Int(list.byte(at))
            at += 1
            let units = min(Int(code.load(as: UInt8.self)), 7)
            if units == 0 {
                let own = UInt16(list.byte(at)) | UInt16(list.byte(at + 1)) << 8
                if own != wanted[unit] { return own < wanted[unit] }
                at += 2
                unit += 1
                continue
            }
            for index in 0..<units where unit < length {
                let own = UInt16(code.load(fromByteOffset: 1 + index, as: UInt8.self))
                if own != wanted[unit] { return own < wanted[unit] }
                unit += 1
            }
        }
        return false
    }

    private mutating func enter(_ block: Int) {
        self.block = block
        at = list.begin(block)
        blockEnd = list.begin(block + 1)
        keysLeft = KeyList.keysInBlock
    }

    /// Whether there is another key, and reads it, passing over those that share more than `common` units with the one
    /// before them.
    private mutating func read(_ common: Int = .max) -> Bool {
        while true {
            if at >= blockEnd || keysLeft == 0 {
                guard block + 1 < list.blocks.count else { return false }
                enter(block + 1)
            }
            keysLeft -= 1
            let (front, length) = list.head(at: &at)
            let end = at + length
            if front <= common {
                count = min(front, count)
                known = min(known, count)
                while at < end, at < list.bytes.count { decode() }
                at = end
                entriesBegin = at
                at = list.endOfEntries(at: at)
                return true
            }
            at = list.endOfEntries(at: end)
        }
    }

    private mutating func decode() {
        var place = at
        list.decode(at: &place) { append($0) }
        at = place
    }

    private mutating func append(_ unit: UInt16) {
        guard count < Self.unitsMax else { return }
        key[count] = unit
        count += 1
    }
}
