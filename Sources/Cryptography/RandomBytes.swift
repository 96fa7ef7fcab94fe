/// `count` random bytes fit for keys.
package func randomBytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        fillRandom(UnsafeMutableRawBufferPointer(buffer))
        initialized = count
    }
}
