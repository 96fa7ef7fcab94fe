import WireFormats

/// Makes records of the steps through an XML document.
protocol XMLSteps {
    /// The longest text of an element.
    static var textBytes: Int { get }
    /// The outermost element.
    static var root: String { get }
    /// Takes a step.
    mutating func take(_ step: XMLStep, into records: inout [FileRecord]) throws(FormatFault)
    var passedOver: PassedOver { get }
}

/// The records of an XML file of any size.
final class XMLRecords<Steps: XMLSteps>: RecordReader {
    private let format: FileFormat
    private var reader = XMLReader(textBytes: Steps.textBytes)
    private var steps: Steps
    private var hasRoot = false

    init(_ format: FileFormat, _ steps: Steps) { (self.format, self.steps) = (format, steps) }

    var passedOver: PassedOver { steps.passedOver }

    func read(_ bytes: ArraySlice<UInt8>, into records: inout [FileRecord]) throws(FormatFault) {
        var fault: FormatFault?
        do throws(GPXError) { try reader.feed(bytes) } catch { fault = .malformed(format, error.description) }
        try takeSteps(into: &records)
        if let fault { throw fault }
    }

    func finish(into records: inout [FileRecord]) throws(FormatFault) {
        var fault: FormatFault?
        do throws(GPXError) { try reader.finish() } catch { fault = .malformed(format, error.description) }
        try takeSteps(into: &records)
        if let fault { throw fault }
    }

    private func takeSteps(into records: inout [FileRecord]) throws(FormatFault) {
        for step in reader.takeSteps() {
            if !hasRoot, case .begin(let name, _, let line) = step {
                hasRoot = true
                guard name == Steps.root else {
                    throw .malformed(format, "the outermost element, at line \(line), is not \(Steps.root).")
                }
            }
            try steps.take(step, into: &records)
        }
    }
}
