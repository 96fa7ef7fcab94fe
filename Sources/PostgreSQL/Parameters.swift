/// The parameters of a statement, in PostgreSQL's binary form.
package struct Parameters {
    /// The values one after the other, behind a byte that gives an empty value an address: a null pointer would be NULL.
    private var bytes: [UInt8] = [0]
    /// The end of each parameter in `bytes`.
    private(set) var ends: [Int] = []

    /// No parameters.
    package init() {}

    /// Removes the parameters and keeps the capacity.
    package mutating func removeAll() {
        bytes.removeSubrange(1...)
        ends.removeAll(keepingCapacity: true)
    }

    /// Appends a `bigint`.
    package mutating func append(_ value: Int64) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
        ends.append(bytes.count)
    }

    /// Appends a `bytea` or a `text`.
    package mutating func append(_ value: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: value)
        ends.append(bytes.count)
    }

    /// Appends a `bytea` or a `text`.
    package mutating func append(_ value: [UInt8]) {
        bytes.append(contentsOf: value)
        ends.append(bytes.count)
    }

    /// Calls `body` with the pointers, lengths and formats that libpq wants.
    func withPointers<R>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> R
    ) -> R {
        bytes.withUnsafeBytes { bytes in
            guard !ends.isEmpty, let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else {
                return body(nil, nil, nil)
            }
            return withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: ends.count) { pointers in
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * ends.count) { numbers in
                    var start = 1
                    for (index, end) in ends.enumerated() {
                        pointers[index] = base + start
                        numbers[index] = Int32(end - start)
                        numbers[ends.count + index] = 1
                        start = end
                    }
                    guard let lengths = numbers.baseAddress else { return body(nil, nil, nil) }
                    return body(pointers.baseAddress, lengths, lengths + ends.count)
                }
            }
        }
    }
}

extension Parameters: ExpressibleByArrayLiteral {
    /// Parameters of the type `bigint`.
    package init(arrayLiteral elements: Int64...) {
        for element in elements { append(element) }
    }
}
