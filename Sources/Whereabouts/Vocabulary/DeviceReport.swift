/// The reporting device: the one whose key was used, or one named by an import.
package enum DeviceReference: Hashable, Sendable {
    case caller
    case named(Handle)
}

/// One report of a device, parsed.
package enum DeviceReport: Sendable {
    /// A location, and the query that the device says it answers.
    case fix(Fix, answering: QueryID?)
    /// The permission that the phone's owner gives the app.
    case authorization(AuthorizationReport)
    /// Another event of Core Location.
    case sighting(Sighting)
    /// A region that the user drew in the app.
    case waypoint(Waypoint)
    /// A message that the service keeps without interpreting it.
    case message(ClientMessage)
    /// A report that cannot be used, with its beginning and its length in bytes.
    case rejected(RejectionReason, RejectedInput, length: Int64)
}
