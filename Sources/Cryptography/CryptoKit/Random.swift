/// As in the folder OpenSSL; on Apple's systems, Swift's generator is the system's own for keys.
package func fillRandom(_ buffer: UnsafeMutableRawBufferPointer) {
    var generator = SystemRandomNumberGenerator()
    for index in buffer.indices { buffer[index] = generator.next() }
}

package func randomBytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        fillRandom(UnsafeMutableRawBufferPointer(buffer))
        initialized = count
    }
}
