/// Passes a value that cannot be copied from the thread that made it to the one that will own it.
package final class OwnedByOneThread<Value: ~Copyable>: @unchecked Sendable {
    // The maker does not use the value again.
    /// The value, for its new owner.
    package var value: Value

    /// - Parameter value: A value that the caller does not use again.
    package init(_ value: consuming Value) { self.value = value }
}
