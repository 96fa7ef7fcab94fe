import Geodesy
import JSON
import Replies
package import Whereabouts

/// Reads the import format `fixes`: JSON lines, each with a fix in the form of ``FixJSON`` and its person:
///
///     {"id":"a-1","user":"anna","timestamp":1767538800.0,"latitude":46.5,"longitude":9.25,"horizontalAccuracy":35.0}
///
/// A line may name the person's device too, as `device`.
///
/// The bytes may come in pieces of any size; at most one line is kept. Lines end with a line feed, with or without a
/// carriage return before it, and are counted from 1. Empty lines, and a byte order mark before the first, are skipped.
package struct FixLines: Sendable {
    /// The longest line. A longer one is skipped and becomes `tooLarge`.
    package static let lineBytes = 64 << 10

    /// The result of one line.
    package struct Item: Hashable, Sendable, DescribedWithoutContent {
        /// The line's number, from 1.
        package let lineNumber: Int
        /// The person; `nil` if the line names none. A `user` that is not a handle makes the line `missingField`, so
        /// that it is never mistaken for a line without one.
        package let user: Handle?
        /// The device of the person; `nil` if the line names none, or not by a handle.
        package let device: Handle?
        /// The fix or the rejection.
        package let report: Report
    }

    private let now: Timestamp
    private var lineNumber = 0
    /// The beginning of a line that has not ended yet.
    private var partial: [UInt8] = []
    private var isTooLong = false

    /// - Parameter now: The time of the house, to find fixes in the future.
    package init(now: Timestamp) {
        self.now = now
    }

    /// Takes the next bytes and returns the items of the lines that end in them.
    package mutating func feed(_ bytes: some Collection<UInt8>) -> [Item] {
        // One closure for every kind of collection keeps the loop below free of generics.
        bytes.withContiguousStorageIfAvailable { feed(contiguous: $0) }
            ?? Array(bytes).withUnsafeBufferPointer { feed(contiguous: $0) }
    }

    /// Ends the input: the last line need not end with a line feed.
    package mutating func finish() -> [Item] {
        partial.isEmpty && !isTooLong ? [] : endLine().map { [$0] } ?? []
    }

    private mutating func feed(contiguous bytes: UnsafeBufferPointer<UInt8>) -> [Item] {
        var items: [Item] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            append(rest[..<end])
            if let item = endLine() { items.append(item) }
            rest = rest[(end + 1)...]
        }
        append(rest)
        return items
    }

    private mutating func append(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        guard !isTooLong else { return }
        if partial.count + bytes.count > Self.lineBytes {
            isTooLong = true
            partial = []
        } else {
            partial.append(contentsOf: bytes)
        }
    }

    private mutating func endLine() -> Item? {
        lineNumber += 1
        defer {
            partial.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        if isTooLong { return Item(lineNumber: lineNumber, user: nil, device: nil, report: .rejected(.tooLarge)) }
        var line = partial[...]
        if lineNumber == 1 && line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        if line.allSatisfy(DecimalText.isWhiteSpace) { return nil }
        let (user, device, report) = read(line)
        return Item(lineNumber: lineNumber, user: user, device: device, report: report)
    }

    private func read(_ line: ArraySlice<UInt8>) -> (user: Handle?, device: Handle?, report: Report) {
        guard let root = try? JSONDocument.message(line) else { return (nil, nil, .rejected(.notJSON)) }
        guard let members = root.membersInPlace else { return (nil, nil, .rejected(.unknownType)) }
        let named = root["user"]
        let user = named?.string.flatMap { Handle($0) }
        if let named, user == nil, !named.isNull { return (nil, nil, .rejected(.missingField)) }
        // Something else of this name is kept with the fix.
        let device = root["device"]?.string.flatMap { Handle($0) }
        let told = members.lazy.filter { $0.key != "user" && (device == nil || $0.key != "device") }
        return (user, device, FixJSON.report(of: told, now: now))
    }

    /// One line in this format, with its line feed.
    ///
    /// - Parameter device: The device, whose fix it is again when the line is imported; `nil` leaves it out.
    package static func line(_ fix: Fix, user: Handle, device: String? = nil) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("user", user.text)
        writer.field("device", device)
        writer.members(of: FixItem(fix))
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
