/// Every threshold of visits and crossings, with its reason. Distances are meters, times seconds.
///
/// A change of any of them changes what is derived, and so is a new version: the threshold becomes a property, the rules
/// of before keep their value, and a timeline of either version can be folded from the log and compared.
package struct VisitRules: Hashable, Sendable {
    /// The version of the derivation, and of the projection that is folded by it.
    package let version: Int64
    /// The shortest stay that is told.
    package let minimumDwellSeconds: Double
    /// Whether the place is the core of its cluster (``StayCore``), with edges and excursions judged from there; before
    /// that it was the whole cluster.
    package let findsCore: Bool
    /// Whether a stay's stillness is judged from every fix between its first and its last, and not from those inside
    /// alone; whether of fixes that crowd in time one is taken (``slotSeconds``).
    package let judgesPath: Bool

    /// Whether one device of a person leads at a time (``DeviceLead``); before that the fixes of all were one track.
    package let oneDeviceLeads: Bool
    /// Whether silence is evidence for a limited time only, and reported visits are evidence. Older rules make one visit of
    /// the same place before and after any silence.
    package let limitsSilence: Bool

    /// Every version that can still be folded, oldest first.
    package static let all: [VisitRules] = [
        // Three minutes to the second: a stop of three minutes was lost as often as not.
        VisitRules(
            version: 1, minimumDwellSeconds: 180, findsCore: false, judgesPath: false, oneDeviceLeads: false,
            limitsSilence: false),
        // Three minutes, less the usual error of a stay's two edges.
        VisitRules(
            version: 2, minimumDwellSeconds: 165, findsCore: false, judgesPath: false, oneDeviceLeads: false,
            limitsSilence: false),
        // The approach no longer shifts the place and its edges, nor does a false spot tear a stay in two.
        VisitRules(
            version: 3, minimumDwellSeconds: 165, findsCore: true, judgesPath: false, oneDeviceLeads: false,
            limitsSilence: false),
        // A slow loop round a park shows where it leaves the place and comes back.
        VisitRules(
            version: 4, minimumDwellSeconds: 165, findsCore: true, judgesPath: true, oneDeviceLeads: false,
            limitsSilence: false),
        // A tablet left at home tears no day in pieces.
        VisitRules(
            version: 5, minimumDwellSeconds: 165, findsCore: true, judgesPath: true, oneDeviceLeads: true,
            limitsSilence: false),
        // A logger that is switched on twice in two years does not make a visit of two years.
        VisitRules(
            version: 6, minimumDwellSeconds: 165, findsCore: true, judgesPath: true, oneDeviceLeads: true,
            limitsSilence: true),
    ]

    /// The rules a new timeline is folded by.
    package static var newest: VisitRules { all[all.count - 1] }

    /// The rules of one version; `nil` for one that is not in ``all``.
    package static func version(_ version: Int64) -> VisitRules? { all.first { $0.version == version } }

    // MARK: Which fixes count

    /// Taken for a fix whose device does not say: a phone that hides its accuracy is rarely worse than a city block.
    static let unknownAccuracy = 100.0
    /// No phone knows better, whatever it claims; keeps one fix from outweighing all others.
    static let bestAccuracy = 3.0
    /// Beyond this a fix names a town, not a place.
    static let worstAccuracy = 3000.0

    /// Of fixes closer in time the most precise stands for all: nobody is elsewhere within this, and a second of fixes
    /// has one error in common.
    static let slotSeconds: Int64 = 4

    // MARK: Which device counts

    /// Places of a device further apart than this beyond the accuracies are two: next door, one would be at both.
    static let apartMeters = 100.0
    /// A leader silent for longer than this, in seconds, leads no more: a phone that only reports when it is moved is
    /// silent for a night or a day's work.
    static let leadSilenceSeconds = 12 * 3600.0
    /// Devices looked at at a time: nobody carries more.
    static let mostDevices = 8

    // MARK: Spikes

    /// Both legs to a spike exceed the accuracies by this, or it is ordinary scatter.
    static let spikeLeg = 150.0
    /// The way over the spike is this many times the way without it …
    static let spikeDetour = 4.0
    /// … and this more, so that standing still does not make every detour infinite.
    static let spikeDetourSlack = 300.0
    /// Faster than a high-speed train (342 km/h) within one track: not travelled.
    static let spikeSpeed = 95.0
    /// Back at nearly the same place …
    static let spikeReturn = 250.0
    /// … this soon after: nobody went there and back unseen,
    static let spikeReturnSeconds = 900.0
    /// or within an hour, when both legs would have been driven.
    static let spikeLongReturnSeconds = 3600.0
    static let spikeLongReturnSpeed = 5.0

    // MARK: Clusters

    /// Weights are 1/(accuracy² + this²): scatter that accuracy does not tell, a house's width.
    static let weightFloor = 15.0
    /// Half the extent of a house with its yard, on top of the fix's own accuracy.
    static let placeRadius = 55.0
    /// A vague fix may not stretch a place further than this.
    static let accuracyCap = 150.0
    /// After this much silence the next fix is judged with the accuracies of both sides of the gap.
    static let silenceSeconds = 1500.0
    static let silenceAccuracyCap = 600.0
    /// Until the centre rests on this many fixes, it is itself as vague as the last of them.
    static let firmCount = 3
    /// A fix vaguer than this near the place speaks neither for staying nor for leaving.
    static let neutralAccuracy = 250.0
    static let neutralFactor = 1.5
    /// Outsiders spread wider than this and their accuracies are travelling.
    static let travelSpread = 150.0
    /// … and by rules that judge the path, wider than this.
    static let leavingSpread = 100.0
    /// Outside for longer than this is gone: five minutes of drift at a false spot, and a little.
    static let leaveSeconds = 330.0
    /// What was seen for less is left sooner, but not sooner than this.
    static let leastLeaveSeconds = 100.0
    /// A single fix outside by fewer than this many accuracies is weak evidence …
    static let weakOutside = 3.0
    /// … and waits this long for another: two heartbeats of a sleeping phone, and a little.
    static let weakSeconds = 2400.0

    // MARK: Stays

    /// Seen for less than this, a stay rests on inference and must also pass the next two.
    static let observedSeconds = 90.0
    static let inferredShare = 0.7
    /// As precise as this only a receiver under open sky is, and there people are mostly on the way: the share asked for
    /// rises by so much for each meter better than …
    static let openSkyAccuracy = 30.0
    static let openSkyShare = 0.0075
    /// … but not further than this. For each meter worse it falls by so much, because walls are what dims a receiver …
    static let mostInferredShare = 0.85
    static let indoorShare = 0.0025
    /// … and not below this.
    static let leastInferredShare = 0.5
    static let inferredSeconds = 240.0
    /// Longer than this is a stay beyond doubt: its fixes need not be kept for the tests below.
    static let settledSeconds = 900.0
    /// A stay's halves may not walk apart faster than this (a stroll round the park is not a visit) …
    static let walkSpeed = 0.25
    /// … and further than this.
    static let walkDistance = 30.0
    /// Movement is judged in steps of this length, above the noise of single seconds.
    static let stepSeconds = 45.0
    static let stillSpeed = 0.45
    static let stillAccuracies = 0.9
    static let stillShare = 0.5
    /// A stay that outlasts what is kept of it is judged as a whole: in a market half of the time is walking, on a way all.
    static let walkedShare = 0.35
    /// A jump into and out of a stay shorter than this at a vague place is a wrong base station.
    static let teleportSeconds = 400.0
    static let teleportAccuracy = 60.0
    static let teleportJump = 150.0
    static let teleportSpeed = 4.0
    static let teleportLegSeconds = 95.0
    /// Who jumps away this fast and as fast back to the same place was not there, however sure the phone.
    static let teleportReturnSpeed = 8.0
    /// Neighbours with centres closer than this are one large place …
    static let joinDistance = 140.0
    /// … if no more than this lies between them …
    static let joinGapSeconds = 600.0
    /// … and no fix between went further than this beyond its accuracy.
    static let joinExcursion = 160.0
    /// A stay of less than ``firmCount`` fixes is no other place than its neighbour within so many accuracies of it.
    static let echoAccuracies = 1.5
    /// More fixes than this between two stays are a time of their own; keeps memory constant.
    static let mostBetween = 128

    // MARK: The core of a stay

    /// Fixes kept of a stay's beginning, and as many of its end …
    static let keptFixes = 32
    /// … no closer in time than this, in seconds: at one fix a second the tests below would see noise alone.
    static let keptSpacing = 10.0
    /// A fix stands for the time until the next one, at most this long (a silent phone says nothing more by waiting) …
    static let longestDwell = 400.0
    /// … and for this share of the time since the one before: with a distance filter the quiet fix is the place, and the
    /// one that ends the quiet is the way out.
    static let dwellBefore = 0.3
    /// The core reaches this far, a house with its door …
    static let coreRadius = 22.0
    /// … or this many times the median distance of its fixes, in a large place …
    static let coreMedians = 1.8
    /// … and this share of a fix's accuracy more.
    static let coreAccuracies = 0.5
    static let coreRounds = 3
    /// A fix off the core with more silence than this after it, in seconds, belongs to the stay and not to the way.
    static let quietSeconds = 150.0
    /// Movement in a core is judged in steps of this length: at a turn a walk of 45 s ends where it began.
    static let coreStepSeconds = 25.0
    /// The speed at an edge is seen between so many fixes outside.
    static let edgeFixes = 3
    /// A false spot lies off the way: over it the way is this many times the direct one.
    static let teleportDetour = 1.5
    /// One fix elsewhere between two at one place that lie no further apart in time than this, two heartbeats of a
    /// sleeping phone and a little, is taken for a spike.
    static let loneFixSeconds = 2000.0

    /// Errors of neighbouring fixes are alike, so that their mean is worse than by chance …
    static let meanErrors = 1.8
    /// … and nobody sits at the middle of a place.
    static let placeError = 5.0

    // MARK: Silence

    /// The longest silence, in seconds, within one visit to the same place: a phone at rest reports rarely.
    package static let samePlaceSilenceSeconds = 72 * 3600.0
    /// After a longer silence between two places, in seconds, the person left the first when last seen there, and reached
    /// the second when first seen there.
    static let otherPlaceSilenceSeconds = 24 * 3600.0
    /// Time between fixes is time with data up to this step, in seconds: phones at rest send such heartbeats.
    static let dataStepSeconds = 2 * 3600.0
    /// A visit is at most this many times as long as its time with data, plus ``samePlaceSilenceSeconds``: several silences
    /// in a row are no better evidence than one.
    static let mostPerData = 2.0
    /// The person has left if a fix off the core is followed by at least this much silence, in seconds, and came at most
    /// ``wayOutFixSeconds`` after another, as the fixes of a moving phone do.
    static let wayOutSilenceSeconds = 300.0
    static let wayOutFixSeconds = 90.0
    /// A reported moment is ignored if fixes came within this many seconds before and after it.
    static let reportSilenceSeconds = 600.0

    // MARK: Edges

    /// Streets are longer than the straight line by about this.
    static let pathFactor = 1.15
    /// Without seen speed: walking for what is near, driving for what is far.
    static let walkingSpeed = 1.3
    static let distancePerSecond = 400.0
    static let fastestGuess = 15.0
    /// A seen speed below this was waiting, not travelling.
    static let slowestSeen = 0.5

    // MARK: Ongoing visits

    /// Evidence after which an open stay is told.
    package static let ongoingSeconds = 180.0
    /// Or this long without a successor to its only fixes.
    static let ongoingSilenceSeconds = 600.0

    // MARK: Crossings

    /// From the 68 % radius of two dimensions to the standard deviation across one boundary.
    static let accuracyPerSigma = 1.515
    /// Meters of doubt about the boundary itself.
    static let boundarySigma = 4.0
    /// One fix never says more than odds of e⁵.
    static let evidenceClip = 5.0
    /// Further from the edge than this many standard deviations a fix says all it can.
    static let sureSigmas = 4.0
    /// Odds of e⁴·² (67 : 1) against the present side confirm a crossing.
    static let crossingEvidence = 4.2
    /// Errors of neighbouring fixes are alike: a fix counts fully when this many seconds later than the one before …
    static let independentSeconds = 20.0
    /// … and at least this much.
    static let leastIndependence = 0.15
    /// A visit is many fixes.
    static let visitEvidence = 1.5
    /// The first side is taken from a fix at least this sure.
    static let firstSideEvidence = 1.0
    /// A region is passed through between two fixes at most this far apart in time …
    static let passSeconds = 90.0
    /// … when at least this share of the way lies inside …
    static let passShare = 0.1
    /// … deeper than this many accuracies.
    static let passDepth = 0.5
    /// The way through a polygon is sampled so often.
    static let passSamples = 19

    // MARK: Restart points (no influence on what is derived)

    /// While nobody stays anywhere, the derivation may be restarted once in each span of this many seconds.
    static let restartSpanSeconds: Int64 = 6 * 3600
    /// In a long stay it may be restarted once in so many fixes: two bytes more for each.
    static let restartFixes: Int64 = 1024
}
