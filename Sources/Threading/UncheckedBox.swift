/// Passes a value from the thread that made it to the one that will own it.
package struct UncheckedBox<Value>: @unchecked Sendable {
    // The maker does not use the value again.
    /// The value, for its new owner.
    package let value: Value

    /// - Parameter value: A value that the caller does not use again.
    package init(_ value: Value) { self.value = value }
}
