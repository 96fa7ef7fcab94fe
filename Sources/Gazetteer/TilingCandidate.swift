/// One label of a cell with its rings, still in the file.
struct TilingCandidate {
    let label: Int
    fileprivate let inverted: Bool
    fileprivate let shapes: Section
    /// The words of the rings, wholly within `shapes`: vertices, then that many pairs, ring by ring.
    fileprivate let rings: Range<Int>

    /// Whether an odd number of edges lies north of the point, or an even one if inverted. Exact: in integers.
    func holds(_ point: LocalPoint) -> Bool {
        var inside = inverted
        eachEdge { ax, ay, bx, by in
            let (ax, bx) = (ax * point.unitsPerStep, bx * point.unitsPerStep)
            // Half open, so that a meridian through a vertex meets one of the two edges there.
            guard (ax > point.x) != (bx > point.x) else { return }
            let (ay, by) = (ay * point.unitsPerStep, by * point.unitsPerStep)
            let turn = (bx - ax) * (point.y - ay) - (by - ay) * (point.x - ax)
            if bx > ax ? turn < 0 : turn > 0 { inside.toggle() }
        }
        return inside
    }

    /// The square of the offset to the nearest edge in 1e-7 degrees, a degree of longitude counted `eastScale` times;
    /// infinite without edges.
    func offsetSquare(_ point: LocalPoint, eastScale: Double) -> Double {
        var least = Double.infinity
        eachEdge { ax, ay, bx, by in
            let step = Double(point.unitsPerStep)
            let dx = Double(bx - ax) * step * eastScale
            let dy = Double(by - ay) * step
            let px = (Double(point.x) - Double(ax) * step) * eastScale
            let py = Double(point.y) - Double(ay) * step
            let length = dx * dx + dy * dy
            let along = length > 0 ? min(max((px * dx + py * dy) / length, 0), 1) : 0
            let (ox, oy) = (px - along * dx, py - along * dy)
            least = min(least, ox * ox + oy * oy)
        }
        return least
    }

    private func eachEdge(_ body: (Int, Int, Int, Int) -> Void) {
        var at = rings.lowerBound
        while at < rings.upperBound {
            let count = Int(shapes.uint16(at, at: 0))
            at += 1
            guard count > 0 else { continue }
            let pairs = UnsafeRawPointer(shapes.start + 2 * at)
            func word(_ index: Int) -> Int {
                Int(UInt16(littleEndian: pairs.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)))
            }
            var (ax, ay) = (word(2 * count - 2), word(2 * count - 1))
            for vertex in 0..<count {
                let (bx, by) = (word(2 * vertex), word(2 * vertex + 1))
                body(ax, ay, bx, by)
                (ax, ay) = (bx, by)
            }
            at += 2 * count
        }
    }
}

/// Goes through the candidates of a cell; ends early where the file is damaged.
struct CandidateReader {
    private let shapes: Section
    private var at: Int
    private var remaining: Int

    init(shapes: Section, begin: Int) {
        self.shapes = shapes
        at = begin + 1
        remaining = begin < shapes.count ? Int(shapes.uint16(begin, at: 0)) : 0
    }

    mutating func next() -> TilingCandidate? {
        guard remaining > 0, at + 2 <= shapes.count else { return nil }
        remaining -= 1
        let label = Int(shapes.uint16(at, at: 0))
        let rings = Int(shapes.uint16(at + 1, at: 0))
        at += 2
        let begin = at
        for _ in 0..<rings & 0x7fff {
            guard at < shapes.count else { return nil }
            at += 1 + 2 * Int(shapes.uint16(at, at: 0))
        }
        guard at <= shapes.count else { return nil }
        return TilingCandidate(label: label, inverted: rings & 0x8000 != 0, shapes: shapes, rings: begin..<at)
    }
}
