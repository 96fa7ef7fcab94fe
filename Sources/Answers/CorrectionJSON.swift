import Geodesy
package import Replies
package import Whereabouts
import WireFormats

extension CorrectionContent {
    package init(_ correction: Correction) {
        self.init(type: correction.kind.word)
        switch correction {
        case .merge(let time), .notVisit(let time):
            (from, to) = (Moment(time.lowerBound), Moment(time.upperBound))
        case .split(let time): moment = Moment(time)
        case .rename(let coordinate, let name):
            place = MapPoint(coordinate)
            self.name = name
        case .samePlace(let first, let other):
            place = MapPoint(first)
            (otherLatitude, otherLongitude) = (other.latitude, other.longitude)
        }
    }
}
