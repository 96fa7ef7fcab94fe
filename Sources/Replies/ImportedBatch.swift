/// The result of one batch of an import.
package struct ImportedBatch: Reply, Hashable {
    /// For each device of the batch, in its order.
    package var devices: [ImportedDevice]
    /// The event after which all of them are in the log.
    package var number: Reference?

    package init(devices: [ImportedDevice], number: Reference? = nil) {
        (self.devices, self.number) = (devices, number)
    }

    package static var invented: Self { Self(devices: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("devices", &devices)
        try members.optional("number", &number)
    }
}

/// The result for one device's reports in a batch of an import.
package struct ImportedDevice: Reply, Hashable {
    package var addedPerson: Bool
    package var addedDevice: Bool
    /// The fixes, without a ``ReportOutcome/number``.
    package var fixes: ReportOutcome
    /// `nil` without visits in the batch.
    package var visits: ReportOutcome?

    package init(addedPerson: Bool, addedDevice: Bool, fixes: ReportOutcome, visits: ReportOutcome? = nil) {
        (self.addedPerson, self.addedDevice) = (addedPerson, addedDevice)
        (self.fixes, self.visits) = (fixes, visits)
    }

    package static var invented: Self {
        Self(addedPerson: .invented, addedDevice: .invented, fixes: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("addedPerson", &addedPerson)
        try members.required("addedDevice", &addedDevice)
        try fixes.visit(&members)
        try members.optional("visits", &visits)
    }
}
