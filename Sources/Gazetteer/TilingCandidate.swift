/// One label of a cell with its rings, still in the file.
struct TilingCandidate {
    let label: Int
    fileprivate let inverted: Bool
    fileprivate let shapes: Section
    /// The bytes of the rings, wholly within `shapes`: vertices, then that many pairs, ring by ring.
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
            let count = shapes.uint16(bytesAt: at)
            at += 2
            guard count > 0 else { continue }
            let pairs = UnsafeRawPointer(shapes.start + at)
            func x(_ index: Int) -> Int {
                Int(UInt16(littleEndian: pairs.loadUnaligned(fromByteOffset: 3 * index, as: UInt16.self)) & 0xfff)
            }
            func y(_ index: Int) -> Int {
                Int(UInt16(littleEndian: pairs.loadUnaligned(fromByteOffset: 3 * index + 1, as: UInt16.self)) >> 4)
            }
            var (ax, ay) = (x(count - 1), y(count - 1))
            for vertex in 0..<count {
                let (bx, by) = (x(vertex), y(vertex))
                body(ax, ay, bx, by)
                (ax, ay) = (bx, by)
            }
            at += 3 * count
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
        remaining = begin < shapes.count ? Int(shapes.start.load(fromByteOffset: begin, as: UInt8.self)) : 0
    }

    mutating func next() -> TilingCandidate? {
        guard remaining > 0, at + 4 <= shapes.count else { return nil }
        remaining -= 1
        let label = shapes.uint16(bytesAt: at)
        let rings = shapes.uint16(bytesAt: at + 2)
        at += 4
        let begin = at
        for _ in 0..<rings & 0x7fff {
            guard at + 2 <= shapes.count else { return nil }
            at += 2 + 3 * shapes.uint16(bytesAt: at)
        }
        guard at <= shapes.count else { return nil }
        return TilingCandidate(label: label, inverted: rings & 0x8000 != 0, shapes: shapes, rings: begin..<at)
    }
}
