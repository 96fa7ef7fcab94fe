/// The rules of one version of the derivation of visits and crossings, and the thresholds that all versions share.
/// Distances are meters, times seconds; each threshold has its reason.
///
/// A version is composed of stages, one for each part of the derivation in which versions differ. A threshold or rule
/// that changes the results needs a new version, whose stage gets a new case; the older versions keep theirs. So a
/// timeline of either version can be folded from the log, and the two can be compared. The page
/// <doc:0029-how-long-old-rules-are-kept> says when an old version is dropped.
package struct VisitRules: Hashable, Sendable {
    /// The version of the derivation, and of the projection that is folded by it.
    package let version: Int64

    /// The use of visits that devices report.
    let reports: ReportStage
    /// Which fixes are spikes.
    let spikes: SpikeStage
    /// Where a false spot ends.
    let falseSpots: FalseSpotStage
    /// The meaning of a silence after a fix outside.
    let outsideRests: OutsideRestStage
    /// The weights of few fixes.
    let weightsOfFew: FewFixesStage
    /// The place of a stay.
    let places: PlaceStage
    /// The meaning of a silence between two fixes.
    let silence: SilenceStage
    /// The use of silence in and after a visit.
    let telling: TellingStage

    /// Whether the visits that a device itself reports are evidence, so that the timeline keeps them.
    package var usesReportedVisits: Bool { reports.usesReports }

    /// The versions that can still be folded, oldest first.
    package static let all: [VisitRules] = [
        VisitRules(
            version: 5, reports: .ignored, spikes: .single, falseSpots: .atCluster, outsideRests: .noise,
            weightsOfFew: .asMany, places: .ownFixes, silence: .unlimited, telling: .departures),
        VisitRules(
            version: 7, reports: .evidence, spikes: .pairs, falseSpots: .atJumpBack, outsideRests: .place,
            weightsOfFew: .withSilence, places: .rememberedPlaces, silence: .limited, telling: .silences),
    ]

    /// The rules that a new timeline is folded by.
    package static var newest: VisitRules { all[all.count - 1] }

    /// The rules of one version, or `nil` if the version is not in ``all``.
    package static func version(_ version: Int64) -> VisitRules? { all.first { $0.version == version } }

    // MARK: Which fixes count

    /// The accuracy of a fix without one: a phone that hides its accuracy is rarely worse than a city block.
    static let unknownAccuracy = 100.0
    /// No phone is more accurate, even if it reports a smaller value. This keeps one fix from outweighing all others.
    static let bestAccuracy = 3.0
    /// A vaguer fix gives a town, not a place.
    static let worstAccuracy = 3000.0

    /// The most precise of fixes within this time is used: no one moves far in it, and fixes of one second share their
    /// error.
    static let slotSeconds: Int64 = 4

    // MARK: Which device counts

    /// Two places of a device are distinct if they are further apart than this beyond the accuracies. A device next
    /// door would be at both.
    static let apartMeters = 100.0
    /// A leader silent for longer than this, in seconds, no longer leads. A phone that reports only when it moves is
    /// silent for a night or a day's work.
    static let leadSilenceSeconds = 12 * 3600.0
    /// The devices compared at the same time; no one carries more.
    static let mostDevices = 8

    // MARK: Spikes

    /// Both legs to a spike exceed the accuracies by this; otherwise it is ordinary scatter.
    static let spikeLeg = 150.0
    /// The way over the spike is this many times the way without it, and …
    static let spikeDetour = 4.0
    /// … longer by this, so that standing still does not make every detour infinite.
    static let spikeDetourSlack = 300.0
    /// Faster than a high-speed train (342 km/h) within one track, so not travelled.
    static let spikeSpeed = 95.0
    /// A return to nearly the same place is a spike …
    static let spikeReturn = 250.0
    /// … within this time, in which no one goes there and back unseen, …
    static let spikeReturnSeconds = 900.0
    /// … or within an hour, if both legs are as fast as a car.
    static let spikeLongReturnSeconds = 3600.0
    static let spikeLongReturnSpeed = 5.0
    /// Two fixes in a row are spikes only if the legs to, between and from them were this fast, in meters per second.
    static let spikePairSpeed = 15.0

    // MARK: Clusters

    /// Weights are 1/(accuracy² + this²), for scatter that the accuracy does not include: a house's width.
    static let weightFloor = 15.0
    /// Half the extent of a house with its yard, added to the fix's accuracy.
    static let placeRadius = 55.0
    /// A vague fix stretches a place by at most this.
    static let accuracyCap = 150.0
    /// After this much silence the next fix is judged with the accuracies of both sides of the gap.
    static let silenceSeconds = 1500.0
    static let silenceAccuracyCap = 600.0
    /// Until the center has this many fixes, it is as vague as the last of them.
    static let firmCount = 3
    /// A vaguer fix near the place is evidence neither for staying nor for leaving.
    static let neutralAccuracy = 250.0
    static let neutralFactor = 1.5
    /// Outsiders spread wider than this and their accuracies are travel.
    static let leavingSpread = 100.0
    /// A person outside for longer than this has left: five minutes of drift at a false spot, and a little.
    static let leaveSeconds = 330.0
    /// A stay seen for a shorter time is left sooner, but after at least this.
    static let leastLeaveSeconds = 100.0
    /// A single fix outside by fewer than this many accuracies is weak evidence, …
    static let weakOutside = 3.0
    /// … and waits this long for another one: two heartbeats of a sleeping phone, and a little.
    static let weakSeconds = 2400.0

    // MARK: Stays

    /// The shortest visit: three minutes, less the usual error of a stay's two edges.
    static let minimumDwellSeconds = 165.0
    /// A stay seen for less than this rests on inference, and must also pass the next two tests.
    static let observedSeconds = 90.0
    static let inferredShare = 0.7
    /// A receiver this precise, in meters, is under open sky, and there people are mostly on the way: the required
    /// share rises by ``openSkyShare`` for each meter better …
    static let openSkyAccuracy = 30.0
    static let openSkyShare = 0.0075
    /// … up to this. It falls by ``indoorShare`` for each meter worse, because walls weaken the signal, …
    static let mostInferredShare = 0.85
    static let indoorShare = 0.0025
    /// … down to this.
    static let leastInferredShare = 0.5
    static let inferredSeconds = 240.0
    /// A longer stay is beyond doubt: its fixes need not be kept for the tests below.
    static let settledSeconds = 900.0
    /// The halves of a stay that move apart faster than this are a stroll and not a visit, …
    static let walkSpeed = 0.25
    /// … if they also move further than this.
    static let walkDistance = 30.0
    static let stillSpeed = 0.45
    static let stillAccuracies = 0.9
    static let stillShare = 0.5
    /// A stay that outlasts its kept fixes is judged as a whole: in a market half of the time is walking, on a way all
    /// of it.
    static let walkedShare = 0.35
    /// A jump into and out of a shorter stay at a vague place is a wrong base station.
    static let teleportSeconds = 400.0
    static let teleportAccuracy = 60.0
    static let teleportJump = 150.0
    static let teleportSpeed = 4.0
    static let teleportLegSeconds = 95.0
    /// A person who jumps away this fast, and back to the same place as fast, was not there, however precise the fixes.
    static let teleportReturnSpeed = 8.0
    /// Neighbors with centers closer than this are one large place, …
    static let joinDistance = 140.0
    /// … if no fix between them went further than this beyond its accuracy.
    static let joinExcursion = 160.0
    /// A stay of fewer than ``firmCount`` fixes is the same place as a neighbor within this many accuracies of it.
    static let echoAccuracies = 1.5
    /// The most fixes between two stays of one place, which keeps memory constant.
    static let mostBetween = 128

    /// A fix outside that is followed by this many seconds of silence is not noise: the phone was at rest there.
    static let restSeconds = 600.0

    // MARK: The core of a stay

    /// The fixes kept of a stay's beginning, and as many of its end, …
    static let keptFixes = 32
    /// … at least this far apart, in seconds: with one fix a second, the tests below would see only noise.
    static let keptSpacing = 10.0
    /// A fix represents the time until the next one, at most this long (a silent phone is no further evidence), …
    static let longestDwell = 400.0
    /// … and for this share of the time since the one before. With a distance filter, the fix before a silence is the
    /// place, and the one that ends it is the way out.
    static let dwellBefore = 0.3
    /// The core has this radius, a house with its door, …
    static let coreRadius = 22.0
    /// … or this many times the median distance of its fixes, for a large place, …
    static let coreMedians = 1.8
    /// … plus this share of a fix's accuracy.
    static let coreAccuracies = 0.5
    static let coreRounds = 3
    /// If there are so few fixes, each represents the silence after it, up to this many seconds: before hours of it the
    /// fix is the place, before minutes of it the way there or out.
    static let fewFixes = 3
    static let longestQuiet = 3600.0
    /// A fix off the core that is followed by a longer silence, in seconds, belongs to the stay and not to the way.
    static let quietSeconds = 150.0
    /// Movement in a core is judged in steps of this length: around a turn, a walk of 45 s ends where it began.
    static let coreStepSeconds = 25.0
    /// The speed at an edge is computed from this many fixes outside.
    static let edgeFixes = 3
    /// A false spot is off the way: the way over it is this many times the direct one.
    static let teleportDetour = 1.5
    /// A single fix elsewhere is a spike if the fixes before and after it are at one place and at most this far apart:
    /// two heartbeats of a sleeping phone, and a little.
    static let loneFixSeconds = 2000.0

    /// The errors of neighboring fixes are similar, so their mean is worse than by chance, …
    static let meanErrors = 1.8
    /// … and people are not exactly at the center of a place.
    static let placeError = 5.0

    // MARK: Silence

    /// Time between fixes is time with data up to this step, in seconds: phones at rest send such heartbeats.
    static let dataStepSeconds = 2 * 3600.0
    /// A last fix off the core is on the way out if it came at most this many seconds after another, as the fixes of a
    /// moving phone do (``SilenceStage/isWayOut(_:)``).
    static let wayOutFixSeconds = 90.0
    /// A reported moment is ignored if fixes came within this many seconds before and after it.
    static let reportSilenceSeconds = 600.0

    // MARK: Memory of places

    /// A stay with a fix in this many seconds, or more often, is located by itself, …
    static let sparseSeconds = 240.0
    /// … and one of fewer seconds than this may have been a wait on the way.
    static let memorableSeconds = 600.0
    /// The weight of a stay in a place's mean grows with its length up to this, …
    static let fullSaySeconds = 3600.0
    /// … and is at least that of this many seconds.
    static let minimumSaySeconds = 60.0
    /// Two stays were at one place if their means are at most this many of their combined errors apart: at least 49 m,
    /// because no error is below 13 m. If both are well known, the shop next door is another place.
    static let samePlaceErrors = 2.5
    /// The smallest error of the place of a sparse stay, in meters.
    static let bestPlace = 15.0
    /// The largest error of a remembered place, in meters.
    static let vaguestPlace = 4000.0
    /// Places are remembered in steps of this many meters.
    static let placeStep = 4.0
    /// A place is forgotten after this many spans of ``restartSpanSeconds`` without a stay, sixty days, …
    static let placeMemorySpans: Int64 = 4 * 60
    /// … or after stays at this many other places.
    static let mostKnownPlaces = 24

    // MARK: Edges

    /// Streets are longer than the straight line by about this factor.
    static let pathFactor = 1.15
    /// Without an observed speed: walking for near places, driving for far ones.
    static let walkingSpeed = 1.3
    static let distancePerSecond = 400.0
    static let fastestGuess = 15.0
    /// A lower observed speed was waiting, not travel.
    static let slowestSeen = 0.5

    // MARK: Ongoing visits

    /// The evidence after which an open stay is shown, …
    package static let ongoingSeconds = 180.0
    /// … or this long without a fix after its only ones.
    static let ongoingSilenceSeconds = 600.0

    // MARK: Crossings

    /// The 68 % radius in two dimensions divided by the standard deviation perpendicular to a boundary.
    static let accuracyPerSigma = 1.515
    /// The uncertainty of the boundary itself, in meters.
    static let boundarySigma = 4.0
    /// The evidence of one fix is at most odds of e⁵.
    static let evidenceClip = 5.0
    /// A fix further from the edge than this many standard deviations has the full evidence.
    static let sureSigmas = 4.0
    /// Odds of e⁴·² (67 : 1) against the present side confirm a crossing.
    static let crossingEvidence = 4.2
    /// The errors of neighboring fixes are similar: a fix counts fully if it is this many seconds later than the one
    /// before, …
    static let independentSeconds = 20.0
    /// … and at least with this weight.
    static let leastIndependence = 0.15
    /// The weight of a visit, which has many fixes.
    static let visitEvidence = 1.5
    /// The first side is taken from a fix with at least this evidence.
    static let firstSideEvidence = 1.0
    /// A person passes through a region between two fixes at most this far apart in time, …
    static let passSeconds = 90.0
    /// … if at least this share of the way is inside, …
    static let passShare = 0.1
    /// … deeper than this many accuracies.
    static let passDepth = 0.5
    /// The samples of the way through a polygon.
    static let passSamples = 19

    // MARK: Restart points (no influence on the results)

    /// While the person is travelling, the derivation may be restarted once in each span of this many seconds.
    static let restartSpanSeconds: Int64 = 6 * 3600
    /// In a long stay it may be restarted once in this many fixes, at two more bytes for each.
    static let restartFixes: Int64 = 1024
}
