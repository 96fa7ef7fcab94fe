import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import Reactors
@testable import Service

@Suite struct StreamRoomTests {
    private static func person(_ number: Int) -> PersonID { PersonID(rawValue: Int64(number)) }

    @Test func `a person has eight streams, and gets another for each that ends`() {
        var room = StreamRoom()
        let walker = Self.person(10)
        for _ in 0..<Limits.liveStreamsPerPerson { #expect(room.take(for: walker, of: walker) == nil) }
        #expect(room.take(for: walker, of: walker)?.status == 429)
        room.giveBack(of: walker)
        #expect(room.take(for: walker, of: walker) == nil)
        #expect(room.take(for: walker, of: walker)?.status == 429)
        #expect(room.count == Limits.liveStreamsPerPerson)
    }

    @Test(arguments: 1...5) func `trees that take what they get leave room for everybody else`(trees: Int) {
        var room = StreamRoom(most: 500)
        var open = [Int](repeating: 0, count: trees)
        // A tree of a hundred persons each; all go on until none gets more.
        var isProgress = true
        while isProgress {
            isProgress = false
            for tree in 0..<trees {
                for member in 0..<100
                where room.take(for: Self.person(1000 * tree + member), of: Self.person(tree)) == nil {
                    open[tree] += 1
                    isProgress = true
                }
            }
        }
        #expect(open.allSatisfy { $0 <= 250 }, "\(open)")
        // In the worst case, each takes half of the remaining room.
        #expect(500 - room.count >= 500 >> trees, "\(open)")
        if trees == 1 { #expect(open == [250]) }
        let refused = room.take(for: Self.person(0), of: Self.person(0))
        #expect(refused?.status == 429 && refused?.detail.contains("the same invitation") == true)
        // Persons of other trees all get a stream, as long as there is room at all.
        let left = 500 - room.count
        for number in 0..<left {
            let newcomer = Self.person(1_000_000 + number)
            #expect(room.take(for: newcomer, of: newcomer) == nil)
        }
        let late = Self.person(2_000_000)
        #expect(room.take(for: late, of: late)?.status == 503)
    }

    @Test(arguments: 1...5) func `what is given back can be taken again`(seed: UInt64) {
        var random = SplitMix(seed)
        var room = StreamRoom(most: 60)
        var held: [PersonID] = []
        for _ in 0..<2000 {
            if Bool.random(using: &random), let index = held.indices.randomElement(using: &random) {
                room.giveBack(of: held.remove(at: index))
            } else {
                let number = Int.random(in: 0..<40, using: &random)
                if room.take(for: Self.person(number), of: Self.person(number % 4)) == nil {
                    held.append(Self.person(number))
                }
            }
            #expect(room.count == held.count)
        }
        for person in held { room.giveBack(of: person) }
        #expect(room.count == 0)
        var again = StreamRoom(most: 60)
        for number in 0..<40 {
            let (person, tree) = (Self.person(number), Self.person(number % 4))
            #expect(room.take(for: person, of: tree)?.status == again.take(for: person, of: tree)?.status)
        }
    }
}
