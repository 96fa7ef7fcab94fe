import Envelopes
import Geodesy
package import Replies
package import Whereabouts
import WireFormats

/// A person's visits, trips, crossings and places, derived on this computer from opened envelopes by the folds of the service,
/// with the rows in memory.
///
/// The answers are those that the service gives of the same fixes, sent openly, except for ids. Only exact fixes count: the
/// service has no visits of coarse ones either.
///
/// Cost: linear in the fixes for those in the order of receipt.
package struct LocalTimeline {
    /// Any id will do: all rows are about one person.
    private static let person = PersonID(rawValue: 2)

    private let now: Timestamp
    private let regions: [RegionID: Region]
    private let places: LocalPlaces
    private let corrections: VisitCorrections
    private let rows = LocalRows()

    /// - Parameters:
    ///   - fixes: In any order.
    ///   - regions: The person's present regions, for ``crossings(from:to:)``.
    ///   - corrections: The person's corrections, in the order in which they were made; only the person and the operator
    ///     can read them.
    ///   - places: Names and time zones for the answers.
    ///   - now: The moment of the answers.
    package init(
        of fixes: [OpenedFix], regions: [Region] = [], corrections: [Correction] = [], places: LocalPlaces = .unknown,
        at now: Timestamp
    ) {
        (self.now, self.places, self.corrections) = (now, places, VisitCorrections(corrections))
        let watched = regions.enumerated().map { index, region in (RegionID(rawValue: Int64(index) + 1), region) }
        self.regions = Dictionary(uniqueKeysWithValues: watched)
        // As in the log of a person who had the regions before the phone reported.
        let first = fixes.compactMap(\.received).min() ?? now
        let added = watched.enumerated().map { index, region in
            let event = Event.regionAdded(region.0, .open(region.1))
            return Self.recorded(Int64(index) + 1, event, at: first, by: Self.person.principal)
        }
        let reported = Self.events(of: fixes, after: Int64(added.count), at: now)
        do { try Self.fold([added, reported], into: rows) } catch { preconditionFailure("Memory does not fail.") }
    }

    /// Folds each list by itself. What came at one moment is one batch, so that times of report are those of the service.
    private static func fold(_ lists: [[RecordedEvent]], into rows: LocalRows) throws(LocalRows.Failure) {
        var fold = TimelineFold()
        for list in lists {
            var rest = list[...]
            while let moment = rest.first?.recordedAt {
                let batch = rest.prefix { $0.recordedAt == moment }
                rest = rest.dropFirst(batch.count)
                try fold.fold(batch, reading: rows).forEach(rows.apply)
                rows.add(batch)
                try fold.settle(reading: rows).forEach(rows.apply)
            }
        }
    }

    private static func recorded(
        _ number: Int64, _ event: Event, at moment: Timestamp, by actor: PrincipalID
    ) -> RecordedEvent {
        RecordedEvent(
            number: number, stream: .track(person), version: number, recordedAt: moment, actor: actor,
            correlation: RequestID(high: 0, low: 0), cause: 0, event: event)
    }

    /// The events that the service would have recorded, in the order of receipt.
    ///
    /// A fix whose receipt is not known is one of an import, so that the rules that need a receipt are skipped.
    private static func events(of fixes: [OpenedFix], after number: Int64, at now: Timestamp) -> [RecordedEvent] {
        let exact = fixes.filter { $0.precision == .exact }
        // The devices in the order in which the service has them, but with small numbers, whatever the envelopes say.
        let sources = Set(exact.map(\.source.rawValue)).sorted()
        let devices = Dictionary(
            uniqueKeysWithValues: sources.enumerated().map { ($1, DeviceID(rawValue: Int64($0) + 3)) })
        let ordered = exact.sorted { a, b in
            let (first, second) = (a.received ?? a.fix.timestamp, b.received ?? b.fix.timestamp)
            return (first, a.fix.timestamp) < (second, b.fix.timestamp)
        }
        return ordered.enumerated().compactMap { index, opened in
            guard let device = devices[opened.source.rawValue] else { return nil }
            return recorded(
                number + Int64(index) + 1, .fixReported(device: device, answering: nil, .open(opened.fix)),
                at: opened.received ?? now, by: opened.received == nil ? .operator : device.principal)
        }
    }

    // MARK: Answers

    /// The visits that overlap the range, by arrival.
    package func visits(from: Timestamp?, to: Timestamp?) -> [VisitItem] {
        overlapping(from, to).map { visit in
            VisitItem(visit, place: name(at: visit.coordinate), timeZone: places.timeZone(visit.coordinate))
        }
    }

    private func overlapping(_ from: Timestamp?, _ to: Timestamp?) -> [Visit] {
        corrected().filter { visit in
            (to.map { visit.arrival < $0 } ?? true)
                && (from.flatMap { from in visit.departure.map { $0 > from } } ?? true)
        }
    }

    /// All visits, as the person has corrected them.
    private func corrected() -> [Visit] {
        let derived = rows.visits.compactMap { $0.told(at: now) }
        if corrections.keepsVisits { return derived }
        let transform = GeocentricTransform()
        var corrected = CorrectedVisits(corrections)
        let told = derived.flatMap { visit in
            corrected.add(visit) { (from, to) -> VisitSpot? in
                VisitSpot(of: rows.followedFixes(from: from, to: to, limit: VisitSpot.fixesMax), transform)
            }
        }
        return told + (corrected.end().map { [$0] } ?? [])
    }

    /// The name of a place: the person's own, otherwise that of this computer's gazetteer.
    private func name(at coordinate: Coordinate) -> String? {
        corrections.name(at: coordinate) ?? places.name(corrections.namingCoordinate(at: coordinate))
    }

    /// The trips and gaps that overlap the range, by time.
    package func trips(from: Timestamp?, to: Timestamp?) -> [TripItem] {
        let search = TripSearch(.own(Self.person), from: from, to: to)
        let visits = overlapping(search.reach.from, search.reach.to)
        var found: [Trip] = []
        for stretch in search.stretches(between: visits, isLastPage: true) {
            let fixes = rows.followedFixes(from: stretch.from, to: stretch.to, limit: TripSearch.fixesMax)
            found += search.trips(of: stretch, fixes: fixes)
        }
        return search.inRange(found).map { TripItem($0, name: name, timeZone: places.timeZone($0.from)) }
    }

    /// The entries and exits in the range, by time, as far as the region reports them.
    package func crossings(from: Timestamp?, to: Timestamp?) -> [CrossingItem] {
        rows.crossings.compactMap { crossing in
            guard from.map({ crossing.time >= $0 }) ?? true, to.map({ crossing.time < $0 }) ?? true,
                let region = regions[crossing.region], region.tells(crossing.kind)
            else { return nil }
            let isExit = crossing.kind == .exit && region.notifyOnEntry
            let entered = isExit ? rows.entry(before: crossing) : nil
            return CrossingItem(crossing, region: region.identifier, entered: entered)
        }
    }

    /// The places visited in the range, the one with the longest time first. Dates are those of the place, or of UTC if its
    /// time zone is not known.
    package func places(from: Timestamp?, to: Timestamp?) -> [PlaceItem] {
        var search = PlaceSearch(from: from, to: to, at: now)
        for visit in overlapping(nil, to) { search.add(visit) }
        let found = search.found(joinedBy: corrections.places) { place, firstArrival in
            places.timeZone(place.coordinate).flatMap { places.rules($0, firstArrival, now) }
        }
        return found.map { found in
            let coordinate = found.place.coordinate
            return PlaceItem(found, name: name(at: coordinate), timeZone: places.timeZone(coordinate))
        }
    }
}
