package import Whereabouts

/// The precision of the fix in an envelope. A device makes one envelope for each tier in use, sealed only for the recipients
/// of that tier. The server chooses which envelope to deliver, but it cannot make a precise one from a coarse one.
///
/// The numbers are those of `Precision`. A grant of place names alone has no tier: names come from a gazetteer, which
/// the phone does not have.
package enum EnvelopeTier: Int64, Sendable, CaseIterable {
    case kilometer = 1
    case exact = 2
    case city = 3

    /// The precision of the grants that this tier is for.
    package var precision: Precision {
        switch self {
        case .kilometer: .kilometer
        case .exact: .exact
        case .city: .city
        }
    }
}

/// A fix with the values that one tier shows, and no others. Only these are sealed.
package struct TieredFix: Hashable, Sendable {
    /// The tier for which the other values were left out.
    package let tier: EnvelopeTier
    /// The values that are sealed. It has neither the client's name for the fix, nor the time of receipt, nor other
    /// members that the client sent: their length would show.
    package let fix: Fix

    /// All values of the fix.
    package init(exact fix: Fix) {
        var fix = fix
        fix.clientID = nil
        fix.receivedAt = nil
        fix.remainder = nil
        (tier, self.fix) = (.exact, fix)
    }

    /// The center of `cell` and the quarter of an hour of the fix. The phone keeps the cell while a fix `HeldCell.keeps(_:)`
    /// it, as the server does for phones that do not seal.
    package init(kilometer fix: Fix, in cell: HeldCell) {
        tier = .kilometer
        self.fix = Fix(timestamp: Precision.kilometer.shown(fix.timestamp), coordinate: cell.center)
    }

    /// Only the coordinate of `center` and the quarter of an hour of its time.
    ///
    /// - Parameter center: A fix whose coordinate the caller has replaced by the center of the city that contains the
    ///   center of the fix's cell (`HeldCell`), or of its square degree (`Coordinate.squareDegreeCenter`). If it were found
    ///   from the fix itself, answers near the border of two cities would show on which side of it the phone is.
    package init(city center: Fix) {
        tier = .city
        fix = Fix(timestamp: Precision.city.shown(center.timestamp), coordinate: center.coordinate)
    }

    /// An opened fix; `nil` if it has values that its tier does not show.
    init?(opened fix: Fix, tier: EnvelopeTier) {
        let shown =
            switch tier {
            case .exact: TieredFix(exact: fix)
            case .kilometer: TieredFix(kilometer: fix, in: HeldCell(around: fix.coordinate))
            case .city: TieredFix(city: fix)
            }
        guard shown.fix == fix else { return nil }
        self = shown
    }
}

/// The quarter of an hour of a fix, which is the only time outside the box. The server orders and deletes envelopes by it.
package struct TimeBucket: Hashable, Comparable, Sendable {
    /// How many seconds a bucket has.
    package static var seconds: Int64 { Precision.coarseSeconds }
    /// The numbers whose encoding has five bytes, so that all envelopes of a kind are equally long. The first begins on 14 November 1971.
    package static let numbers: ClosedRange<Int64> = 65_536...4_294_967_295

    /// `floor(time / 900 s)`, counted from 1970.
    package let number: Int64

    /// `nil` outside ``numbers``.
    package init?(number: Int64) {
        guard Self.numbers.contains(number) else { return nil }
        self.number = number
    }

    /// The bucket that contains `time`; `nil` outside ``numbers``.
    package init?(containing time: Timestamp) {
        self.init(number: Precision.city.shown(time).milliseconds / (Self.seconds * 1000))
    }

    /// The first millisecond of the bucket.
    package var start: Timestamp { Timestamp(milliseconds: number * Self.seconds * 1000) }
    /// The first millisecond after it.
    package var end: Timestamp { start.adding(seconds: Self.seconds) }

    package static func < (a: TimeBucket, b: TimeBucket) -> Bool { a.number < b.number }
}
