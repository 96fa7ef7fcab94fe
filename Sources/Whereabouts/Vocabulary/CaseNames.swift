extension CaseIterable where Self: Hashable {
    /// The name of each case. A type whose names are often read stores this, because `String(describing:)` is slow.
    static var caseNames: [Self: String] {
        Dictionary(uniqueKeysWithValues: allCases.map { ($0, String(describing: $0)) })
    }
}
