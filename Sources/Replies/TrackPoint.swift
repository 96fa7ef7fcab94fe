/// A fix of a track.
package struct TrackPoint: Reply, Hashable {
    package var fix: FixItem
    /// `nil` if the device is no longer known.
    package var device: String?
    package var number: Reference
    /// The defect for which folds ignore the fix.
    package var anomaly: String?

    package init(fix: FixItem, device: String? = nil, number: Reference, anomaly: String? = nil) {
        // One by one: a tuple would copy them.
        self.fix = fix
        self.device = device
        self.number = number
        self.anomaly = anomaly
    }

    package static var invented: Self {
        Self(fix: .invented, number: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try fix.visit(&members)
        try members.optional("device", .handle, &device)
        try members.required("number", &number)
        try members.optional("anomaly", .words(["invalid", "noFix", "inTheFuture", "vague", "spike"]), &anomaly)
    }

    package var shape: MapShape? { fix.shape }
    package var featureID: String? { fix.id }
}
