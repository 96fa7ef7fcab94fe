/// A file that is imported, as the client describes it. A client need not say anything.
package struct ImportedFile: Hashable, Sendable {
    /// The last component of its path, at most ``Limits/fileNameCharacters`` characters.
    package var name: String?
    /// The name of its format, for example `google-records`; at most ``Limits/fileFormatCharacters`` characters.
    package var format: String?
    /// Its length; `nil` for a pipe.
    package var byteCount: Int64?
    /// The SHA-256 of its beginning, by which an interrupted import of the same file is found again. A short beginning
    /// could be guessed from it, so it is sealed like the rest.
    package var head: Hash256?

    package init(name: String? = nil, format: String? = nil, byteCount: Int64? = nil, head: Hash256? = nil) {
        (self.name, self.format, self.byteCount, self.head) = (name, format, byteCount, head)
    }

    /// The error in the description, as a sentence; `nil` for a valid one.
    package var defect: String? {
        if let name, !(1...Limits.fileNameCharacters).contains(name.unicodeScalars.count) {
            return "A file's name has 1 to \(Limits.fileNameCharacters) characters."
        }
        if let format, !(1...Limits.fileFormatCharacters).contains(format.unicodeScalars.count) {
            return "The name of a format has 1 to \(Limits.fileFormatCharacters) characters."
        }
        if let byteCount, byteCount < 0 { return "The length of a file is not negative." }
        return nil
    }

    /// Whether both are known to be the same file, as far as its length and its beginning show.
    package func isSame(as other: ImportedFile) -> Bool {
        head != nil && byteCount != nil && head == other.head && byteCount == other.byteCount
    }
}

/// The import that reports belong to: the id by which it can be undone, and its file.
package struct ImportReference: Hashable, Sendable {
    /// The correlation of the import's events.
    package let id: Identifier128
    package let file: ImportedFile

    package init(id: Identifier128, file: ImportedFile) { (self.id, self.file) = (id, file) }
}

/// The results for the records of one person in an import, as the client counted them.
package struct ImportCounts: Hashable, Sendable {
    /// The fixes that were new in the log.
    package var new: Int64 = 0
    /// The fixes that were there already.
    package var duplicate: Int64 = 0
    /// The new visits of another system.
    package var visits: Int64 = 0
    /// The records that could not be used, also those without a time.
    package var rejected: Int64 = 0

    package init(new: Int64 = 0, duplicate: Int64 = 0, visits: Int64 = 0, rejected: Int64 = 0) {
        (self.new, self.duplicate, self.visits, self.rejected) = (new, duplicate, visits, rejected)
    }
}

/// Why a file was not imported to its end, in the tool's words.
package struct ImportFault: Hashable, Sendable {
    package let text: String
    package init(_ text: String) { self.text = text }

    /// The error in the text, as a sentence; `nil` for a valid one.
    package var defect: String? {
        (1...Limits.importFaultCharacters).contains(text.unicodeScalars.count)
            ? nil : "The fault of an import has 1 to \(Limits.importFaultCharacters) characters."
    }
}
