import Whereabouts

/// Metrics in Prometheus' text format (version 0.0.4).
struct MetricsText {
    /// The labels of a sample, in the order in which they are written.
    typealias Labels = KeyValuePairs<String, String>

    /// The text so far.
    private(set) var text = ""

    /// Adds a family of values that only grow. Backslashes and line breaks in `help` must be escaped.
    ///
    /// - Parameters:
    ///   - name: The name of the family, ending in `_total`.
    ///   - help: A sentence for the operator.
    ///   - samples: One value for each set of labels.
    mutating func counter(_ name: String, _ help: String, _ samples: [(Labels, Double)]) {
        family(name, "counter", help, samples)
    }

    /// Adds a family of values that rise and fall.
    mutating func gauge(_ name: String, _ help: String, _ samples: [(Labels, Double)]) {
        family(name, "gauge", help, samples)
    }

    /// Adds a family of histograms, each with cumulative buckets, a sum and a count.
    ///
    /// A bucket `le` counts the values up to its bound, in seconds; the last one is `+Inf`.
    mutating func histogram(_ name: String, _ help: String, _ samples: [(Labels, Histogram)]) {
        head(name, "histogram", help)
        for (labels, histogram) in samples {
            let labels = Array(labels)
            var count: Int64 = 0
            for (index, added) in histogram.counts.enumerated() {
                count += added
                let bound = index < Histogram.bounds.count ? "\(Histogram.bounds[index])" : "+Inf"
                sample(name + "_bucket", labels + [("le", bound)], Double(count))
            }
            sample(name + "_sum", labels, histogram.sum)
            sample(name + "_count", labels, Double(count))
        }
    }

    /// A family with its head and one line for each sample.
    private mutating func family(_ name: String, _ type: String, _ help: String, _ samples: [(Labels, Double)]) {
        head(name, type, help)
        for (labels, value) in samples { sample(name, Array(labels), value) }
    }

    /// The lines `# HELP` and `# TYPE`, once for each family.
    private mutating func head(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    /// One line. A whole value is written without a fraction.
    ///
    /// Prometheus reads a number as a double, so counts above 2⁵³ lose their last digits.
    private mutating func sample(_ name: String, _ labels: [(key: String, value: String)], _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
        }
        let whole = Int64(exactly: value).map { "\($0)" }
        text += " \(whole ?? "\(value)")\n"
    }

    /// A label's value with backslashes, quotes and line breaks escaped.
    private static func escaped(_ value: String) -> String {
        var escaped = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
