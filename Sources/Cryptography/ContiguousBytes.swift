/// Lends `bytes` as one piece of memory, without copying where they are in one already (arrays, strings, buffers).
///
/// A loop over a generic sequence is not specialized across modules: base 64 took 30 ns a byte, and takes 3 here.
func withContiguousBytes<R>(_ bytes: some Sequence<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    if let result = bytes.withContiguousStorageIfAvailable(body) { return result }
    return [UInt8](bytes).withUnsafeBufferPointer(body)
}
