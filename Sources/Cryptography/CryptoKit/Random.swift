/// As in the folder OpenSSL; on Apple's systems, Swift's generator is the system's own for keys.
package func fillRandom(_ buffer: UnsafeMutableRawBufferPointer) {
    var generator = SystemRandomNumberGenerator()
    for index in buffer.indices { buffer[index] = generator.next() }
}
