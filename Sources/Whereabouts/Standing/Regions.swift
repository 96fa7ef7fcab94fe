extension Standing {
    /// The regions that are not removed. A person's list of them is in ``Person/regions``.
    package struct Regions: TrackedRegister {
        /// By number.
        package internal(set) var all: Tracked<RegionID, Region> = [:]
        /// The number of the next region.
        package internal(set) var next: Int64 = 1

        /// A region; `nil` if it is removed, or cannot be read.
        package subscript(id: RegionID) -> Region? { all[id] }

        /// - Parameter region: `nil` if it can no longer be read: only its number is used up.
        mutating func add(_ id: RegionID, _ region: Region?) {
            next = id.rawValue + 1
            if let region { all[id] = region }
        }

        mutating func remove(_ id: RegionID) { all[id] = nil }
    }

    mutating func add(_ id: RegionID, _ region: Region?, of person: PersonID?) {
        regions.add(id, person == nil ? nil : region)
        if let person, region != nil { persons[person]?.regions.append(id) }
    }

    mutating func remove(_ id: RegionID, of person: PersonID?) {
        regions.remove(id)
        if let person { persons[person]?.regions.removeAll { $0 == id } }
    }
}

// MARK: - Rows

extension Standing.Regions {
    static let kind = StandingEntry.Kind.region

    static func write(_ region: Region, to fields: inout FieldWriter) { region.write(to: &fields) }

    mutating func load(_ id: RegionID, _ fields: inout FieldReader) throws(CBORError) {
        all.load(id, try Region(from: &fields))
    }
}
