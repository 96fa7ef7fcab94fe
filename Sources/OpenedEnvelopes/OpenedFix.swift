package import Envelopes
package import Replies
package import Whereabouts
import WireFormats

/// A fix that was opened on this computer, with the device that took it.
package struct OpenedFix: Sendable {
    package let fix: Fix
    /// What the envelope shows.
    package let precision: Precision
    /// The device's handle; `nil` if the service no longer knows it.
    package let device: String?
    /// The place of the device among the person's devices, as the envelope names it.
    package let source: EnvelopeDevice
    /// When the service received the envelope; `nil` if it does not say.
    package let received: Timestamp?
    /// The event that records the envelope, as the service names it to the reader.
    package let number: Reference

    init(_ fix: Fix, in envelope: Envelope, _ item: EnvelopeItem) {
        (self.fix, precision, device) = (fix, envelope.tier.precision, item.device)
        source = envelope.device
        received = item.received.map { Timestamp(milliseconds: $0.milliseconds) }
        number = item.number ?? .text("")
    }
}

extension LocationItem {
    /// A fix that was opened here, as an answer shows it.
    ///
    /// - Parameter place: The place by this computer's gazetteer.
    package init(_ opened: OpenedFix, place: PlacemarkItem? = nil) {
        let fix = opened.fix
        self.init(
            timestamp: Moment(fix.timestamp), at: MapPoint(fix.coordinate),
            horizontalAccuracy: fix.horizontalAccuracy, altitude: fix.altitude,
            ellipsoidalAltitude: fix.ellipsoidalAltitude, speed: fix.speed, course: fix.course,
            precision: opened.precision.word, place: place)
    }
}

extension TrackPoint {
    /// A fix that was opened here, as a track shows it.
    package init(_ opened: OpenedFix) {
        self.init(fix: FixItem(opened.fix), device: opened.device, number: opened.number)
    }
}
