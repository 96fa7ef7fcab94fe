extension String {
    /// The text with a space in place of each control, format and separator character, so that it can be shown to
    /// people.
    ///
    /// Format characters include those that change the direction of the rest of a line.
    package var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: " "
                    default: scalar
                    }
                }))
    }
}
