/// Metrics in Prometheus' text format (version 0.0.4).
struct MetricsText {
    typealias Labels = KeyValuePairs<String, String>

    private(set) var text = ""

    mutating func counter(_ name: String, _ help: String, _ samples: [(Labels, Double)]) {
        family(name, "counter", help, samples)
    }

    mutating func gauge(_ name: String, _ help: String, _ samples: [(Labels, Double)]) {
        family(name, "gauge", help, samples)
    }

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

    private mutating func family(_ name: String, _ type: String, _ help: String, _ samples: [(Labels, Double)]) {
        head(name, type, help)
        for (labels, value) in samples { sample(name, Array(labels), value) }
    }

    private mutating func head(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    private mutating func sample(_ name: String, _ labels: [(key: String, value: String)], _ value: Double) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
        }
        let whole = Int64(exactly: value).map { "\($0)" }
        text += " \(whole ?? "\(value)")\n"
    }

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
