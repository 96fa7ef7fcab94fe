import Synchronization

/// `count` random bytes fit for keys.
package func randomBytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        fillRandom(UnsafeMutableRawBufferPointer(buffer))
        initialized = count
    }
}

/// Two random words, enough for an identifier. They come from a store that is filled with many at a time: one call for
/// random bytes costs as much as sealing a fix, and every request needs some.
package func twoRandomWords() -> (UInt64, UInt64) {
    storedWords.withLock { words in
        if words.count < 2 {
            words = randomBytes(4096).withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        }
        return (words.removeLast(), words.removeLast())
    }
}

private let storedWords = Mutex<[UInt64]>([])
