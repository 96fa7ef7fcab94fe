import Answers

/// A table for people: columns as wide as their widest cell, two spaces apart.
struct Table {
    struct Column {
        let title: String
        var isNumber = false
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    /// - Parameter titles: One for each column. A column whose title begins with `>` is aligned to the right, for
    ///   numbers.
    init(_ titles: String...) {
        columns = titles.map {
            $0.hasPrefix(">") ? Column(title: String($0.dropFirst()), isNumber: true) : Column(title: $0)
        }
    }

    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row. Control characters are shown as spaces, so that a name cannot move the cursor.
    mutating func add(_ cells: String...) { add(cells) }

    mutating func add(_ cells: [String]) {
        precondition(cells.count == columns.count, "A row has a cell for each column.")
        rows.append(cells.map(\.printable))
    }

    /// The lines, each with a line feed; empty without rows.
    var text: String {
        guard !rows.isEmpty else { return "" }
        let all = [columns.map(\.title)] + rows
        let widths = columns.indices.map { column in all.map { Self.width($0[column]) }.max() ?? 0 }
        return all.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let space = String(repeating: " ", count: widths[column] - Self.width(cell))
                line += (column > 0 ? "  " : "") + (columns[column].isNumber ? space + cell : cell + space)
            }
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }

    /// The columns of a terminal that a text takes: two for each wide character of Unicode Standard Annex #11 (the
    /// common blocks), otherwise one.
    static func width(_ text: String) -> Int {
        text.reduce(0) { width, character in
            guard let scalar = character.unicodeScalars.first?.value else { return width }
            switch scalar {
            case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
                0x1F300...0x1FAFF, 0x20000...0x3FFFD:
                return width + 2
            default: return width + 1
            }
        }
    }
}
