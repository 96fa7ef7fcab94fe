import WireFormats

/// The columns of a CSV file, by the names in its head.
struct CSVHeads {
    /// The names that are known, for a file without them.
    static let needed =
        "The file is a table without a head that names the place; name the columns in its first line, for example time,latitude,longitude,altitude,accuracy,speed,course."

    /// The meaning of a column.
    enum Column: Hashable {
        case time, date, start, end
        case latitude, longitude
        case altitude, accuracy, verticalAccuracy, speed, speedAccuracy, course, courseAccuracy, floor
        /// 0 to 1, or 0 to 100.
        case battery
        /// The kind of a row, for example "Visit".
        case kind
        /// Whether the receiver had a fix.
        case valid
    }

    private(set) var index: [Column: Int] = [:]
    /// The factors of columns, where they are not 1.
    private(set) var factor: [Column: Double] = [:]
    let delimiter: UInt8
    /// Whether the head says that times are UTC.
    private(set) var isUTC = false

    private static let names: [String: Column] = [
        "time": .time, "timestamp": .time, "datetime": .time, "recordedat": .time, "fixtime": .time, "utc": .time,
        "utctime": .time, "timeutc": .time, "datetimeutc": .time, "gpstime": .time, "isotime": .time, "tst": .time,
        "timestampms": .time, "unixtime": .time, "createdat": .time, "date": .date, "starttime": .start,
        "start": .start, "startdate": .start, "endtime": .end, "end": .end, "enddate": .end,
        "lat": .latitude, "latitude": .latitude, "latitudee7": .latitude, "latitudedeg": .latitude,
        "lon": .longitude, "lng": .longitude, "long": .longitude, "longitude": .longitude,
        "longitudee7": .longitude, "longitudedeg": .longitude,
        "ele": .altitude, "elevation": .altitude, "alt": .altitude, "altitude": .altitude, "eleft": .altitude,
        "altitudeft": .altitude, "elevationft": .altitude, "elem": .altitude, "altitudem": .altitude,
        "accuracy": .accuracy, "acc": .accuracy, "horizontalaccuracy": .accuracy, "hacc": .accuracy,
        "accuracym": .accuracy, "horizontalaccuracym": .accuracy, "verticalaccuracy": .verticalAccuracy,
        "vacc": .verticalAccuracy, "verticalaccuracym": .verticalAccuracy, "speedaccuracymps": .speedAccuracy,
        "coursedeg": .course, "courseaccuracydeg": .courseAccuracy, "floor": .floor,
        "speed": .speed, "velocity": .speed, "speedmps": .speed, "speedms": .speed, "speedm/s": .speed,
        "speedkmh": .speed, "speedkm/h": .speed, "speedkph": .speed, "speedmph": .speed, "speedknots": .speed,
        "speedkn": .speed, "bearing": .course, "course": .course, "heading": .course, "cog": .course,
        "battery": .battery, "batterylevel": .battery, "batt": .battery, "type": .kind, "valid": .valid,
    ]

    private static let factors: [String: Double] = [
        "latitudee7": 1e-7, "longitudee7": 1e-7, "eleft": 0.3048, "altitudeft": 0.3048, "elevationft": 0.3048,
        "speedkmh": 1 / 3.6, "speedkm/h": 1 / 3.6, "speedkph": 1 / 3.6, "speedmph": 0.44704,
        "speedknots": 1852.0 / 3600, "speedkn": 1852.0 / 3600,
    ]

    /// - Parameter cells: The first row.
    /// - Returns: `nil` if no columns are a latitude and a longitude.
    init?(_ cells: [String], delimiter: UInt8) {
        self.delimiter = delimiter
        var words: Set<String> = []
        for (number, cell) in cells.enumerated() {
            let word = Self.word(cell)
            words.insert(word)
            guard let column = Self.names[word] else { continue }
            // The first of several wins, but the fix's own time before others.
            if index[column] == nil || word == "fixtime" {
                index[column] = number
                factor[column] = Self.factors[word]
                if column == .time { isUTC = word.contains("utc") }
            }
        }
        // Traccar's reports have three times, and speeds in knots.
        if words.isSuperset(of: ["fixtime", "devicetime"]) { factor[.speed] = 1852.0 / 3600 }
        // GeoPulse's velocity is in km/h, whatever its sources report.
        if words.isSuperset(of: ["velocity", "deviceid", "sourcetype"]) { factor[.speed] = 1 / 3.6 }
        guard index[.latitude] != nil, index[.longitude] != nil else { return nil }
    }

    /// Lower case, without quotes, blanks, brackets and underscores: `"Speed (km/h)"` is `speedkm/h`.
    private static func word(_ cell: String) -> String {
        let kept = cell.lowercased().utf8.filter { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "/")
        }
        return String(decoding: kept, as: UTF8.self)
    }

    /// Whether the lines are a table: its head is known, or several lines have equally many cells.
    static func looksLikeTable(_ lines: [String]) -> Bool {
        guard let delimiter = delimiter(lines) else { return false }
        if CSVHeads(cells(lines.first ?? "", delimiter), delimiter: delimiter) != nil { return true }
        let counts = lines.prefix(20).map { cells($0, delimiter).count }
        return counts.count >= 2 && counts[0] >= 3 && counts.dropLast().allSatisfy { $0 == counts[0] }
    }

    /// The delimiter that most of the first lines have as often as the head.
    static func delimiter(_ lines: [String]) -> UInt8? {
        let head = lines.prefix(20)
        var best: (delimiter: UInt8, even: Int, count: Int)?
        for delimiter in ",;\t|".utf8 {
            let counts = head.map { cells($0, delimiter).count - 1 }
            guard let first = counts.first, first > 0 else { continue }
            let even = counts.count { $0 == first }
            if best.map({ (even, first) > ($0.even, $0.count) }) ?? true { best = (delimiter, even, first) }
        }
        return best?.delimiter
    }

    static func cells(_ line: String, _ delimiter: UInt8) -> [String] {
        var parser = CSVParser(delimiter: delimiter)
        var cells: [String] = []
        // One line without its end is a whole row.
        parser.read(Array(line.utf8)[...]) { row in if cells.isEmpty { cells = row.cells } }
        parser.finish { row in if cells.isEmpty { cells = row.cells } }
        return cells
    }
}

/// Cuts a text into rows of cells (RFC 4180), in pieces of any size. At most one row is kept.
struct CSVParser {
    /// The longest row, and the most cells of one.
    static let rowBytes = 256 << 10
    static let cellsMax = 512

    struct Row {
        /// The line in which the row begins.
        let line: Int
        let cells: [String]
        /// Whether the row was longer than the bounds.
        let isCut: Bool
    }

    private let delimiter: UInt8
    private var cells: [String] = []
    private var cell: [UInt8] = []
    private var bytes = 0
    private var isQuoted = false
    /// Whether the cell began with a quote, and whether the last byte was a quote in such a cell.
    private var hadQuote = false
    private var afterQuote = false
    private var followsReturn = false
    private var isCut = false
    private var line = 1
    private var firstLine = 1
    private var isEmpty = true

    init(delimiter: UInt8) { self.delimiter = delimiter }

    mutating func read(_ input: ArraySlice<UInt8>, _ take: (Row) -> Void) {
        for byte in input {
            if followsReturn, byte == 0x0A {
                followsReturn = false
                continue
            }
            followsReturn = false
            if isQuoted {
                if byte == UInt8(ascii: "\"") {
                    (isQuoted, afterQuote) = (false, true)
                } else {
                    if byte == 0x0A { line += 1 }
                    append(byte)
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\"") where afterQuote:
                append(byte)
                (isQuoted, afterQuote) = (true, false)
            case UInt8(ascii: "\"") where cell.isEmpty && !hadQuote:
                (isQuoted, hadQuote, isEmpty) = (true, true, false)
            case delimiter: endCell()
            case 0x0A, 0x0D:
                followsReturn = byte == 0x0D
                endRow(take)
            default:
                afterQuote = false
                append(byte)
            }
        }
    }

    mutating func finish(_ take: (Row) -> Void) {
        if !isEmpty { endRow(take) }
    }

    private mutating func append(_ byte: UInt8) {
        isEmpty = false
        bytes += 1
        if bytes > Self.rowBytes { isCut = true } else { cell.append(byte) }
    }

    private mutating func endCell() {
        isEmpty = false
        if cells.count < Self.cellsMax { cells.append(String(decoding: cell, as: UTF8.self)) } else { isCut = true }
        cell.removeAll(keepingCapacity: true)
        (hadQuote, afterQuote) = (false, false)
    }

    private mutating func endRow(_ take: (Row) -> Void) {
        line += 1
        if !isEmpty {
            endCell()
            take(Row(line: firstLine, cells: cells, isCut: isCut))
        }
        cells.removeAll(keepingCapacity: true)
        (bytes, isCut, isEmpty, isQuoted, firstLine) = (0, false, true, false, line)
    }
}
