import FileFormats
import Geodesy
import Glibc
import JSON
import Service
import Whereabouts

/// Reading a file of any format, without storing its records.
struct ReadFileBench {
    private let path: String

    init(_ options: Options) throws { path = try options.text("file") }

    func run() throws {
        guard let file = fopen(path, "r") else { throw UsageError() }
        defer { fclose(file) }
        var (fixes, others) = (0, 0)
        let began = nanoseconds()
        // Later than every fix.
        let choices = FileChoices(now: Timestamp(milliseconds: 4_000_000_000_000))
        let reading = FileReading(choices) {
            [UInt8](unsafeUninitializedCapacity: 256 << 10) { room, count in
                count = fread(room.baseAddress, 1, room.count, file)
            }
        }
        while let records = try reading.next() {
            for record in records {
                if case .fix = record.content { fixes += 1 } else { others += 1 }
            }
        }
        let seconds = Double(nanoseconds() - began) / 1e9
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "read-file")
        writer.field("format", reading.summary.formatName)
        writer.field("fixes", fixes)
        writer.field("others", others)
        writer.field("bytes", reading.bytesRead)
        writer.field("seconds", rounded(seconds, 3))
        writer.field("perSecond", Int(Double(fixes + others) / seconds))
        writer.field("peakKilobytes", Memory.peakKilobytes())
        writer.endObject()
        printLine(writer.bytes)
    }
}

/// Writing fixes to a file of each form.
struct WriteFileBench {
    private let path: String
    private let form: TrackForm
    private let count: Int

    init(_ options: Options) throws {
        path = try options.text("file")
        guard let form = TrackForm(rawValue: try options.text("form")), let anna = Handle("anna") else {
            throw UsageError()
        }
        self.form = form
        person = anna
        count = try options.number("fixes", default: 1_000_000)
    }

    private let person: Handle

    func run() throws {
        guard let output = fopen(path, "w") else { throw UsageError() }
        var file = TrackFile(form, of: person)
        var written = 0
        func flush(_ bytes: [UInt8]) throws {
            written += bytes.count
            guard fwrite(bytes, 1, bytes.count, output) == bytes.count else { throw UsageError() }
        }
        let began = nanoseconds()
        for index in 0..<count {
            file.add(try Self.fix(index), device: "phone")
            // A page of the service's answer has a thousand.
            if index % 1000 == 999 { try flush(file.takeBytes()) }
        }
        file.finish()
        try flush(file.takeBytes())
        fclose(output)
        let seconds = Double(nanoseconds() - began) / 1e9
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("benchmark", "write-file")
        writer.field("form", form.rawValue)
        writer.field("fixes", count)
        writer.field("bytes", written)
        writer.field("seconds", rounded(seconds, 3))
        writer.field("perSecond", Int(Double(count) / seconds))
        writer.field("peakKilobytes", Memory.peakKilobytes())
        writer.endObject()
        printLine(writer.bytes)
    }

    /// A walk to and fro, with the numbers of a phone's receiver.
    private static func fix(_ index: Int) throws -> Fix {
        let place = index % 100_000
        var fix = Fix(
            timestamp: Timestamp(milliseconds: 1_600_000_000_000 + Int64(index) * 1000),
            coordinate: try Coordinate(
                latitude: Double(482_083_333 + place * 7) / 1e7, longitude: Double(163_730_000 + place * 11) / 1e7),
            horizontalAccuracy: Double(3 + index % 40))
        fix.altitude = 150 + Double(index % 97) / 4
        fix.verticalAccuracy = 3
        fix.speed = Double(index % 20) / 8
        fix.course = Double(index % 360)
        return fix
    }
}

private enum Memory {
    /// The most memory that this process has had.
    static func peakKilobytes() -> Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("VmHWM:") { return Int(text.filter(\.isNumber)) ?? 0 }
        }
        return 0
    }
}
