import Testing

@testable import FileFormats

@Suite struct FileDetectionTests {
    @Test(arguments: [
        ("<gpx>", FileFormat.gpx),
        ("\u{FEFF}\n<?xml version=\"1.0\"?><!-- <kml> --><!DOCTYPE gpx>\n<gpx\nversion='1.1'>", .gpx),
        ("<g:gpx xmlns:g='x'/>", .gpx), ("\n\n  <?xml version=\"1.0\"?><TrainingCenterDatabase>", .tcx),
        ("<kml xmlns='x'>", .kml), (#"{"latitude":1,"longitude":2,"timestamp":3}"#, .fixes),
        ("\n" + #"{"user":"a","timestamp":3,"latitude":1}"# + "\r\nanything", .fixes),
        (#"{"locations":[]}"#, .googleRecords), ("\u{FEFF}lat;lon\n1;2\n", .csv),
        (#"{"rawSignals":[{"a":"\"locations\":[{\"lat\":1"}]}"#, .googleTimeline),
    ])
    func `a file is known by how it begins`(text: String, format: FileFormat) throws {
        #expect(try FileDetection.detect(Array(text.utf8)) == .format(format))
    }

    @Test func `two bytes a character are readable too`() throws {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><gpx/>"
        for mark in [[0xFF, 0xFE], [0xFE, 0xFF]] as [[UInt8]] {
            let bytes = mark + text.utf8.flatMap { mark[0] == 0xFF ? [$0, 0] : [0, $0] }
            #expect(try FileDetection.detect(bytes) == .format(.gpx))
        }
    }

    /// Excel saves "Unicode text" so. Only the reader of XML takes it.
    @Test(arguments: ["time,lat,lon\n1,2,3\n", #"[{"lat":1}]"#, "$GPRMC,1"])
    func `other text in UTF-16 is refused by name`(
        text: String
    ) {
        for mark in [[0xFF, 0xFE], [0xFE, 0xFF]] as [[UInt8]] {
            let bytes = mark + text.utf8.flatMap { mark[0] == 0xFF ? [$0, 0] : [0, $0] }
            for chosen in [nil, FileFormat.csv] {
                #expect {
                    try FileDetection.detect(bytes, chosen: chosen)
                } throws: {
                    ($0 as? FormatFault)?.description.contains("UTF-16; save it as UTF-8") == true
                }
            }
        }
    }

    @Test(arguments: [
        ("", "The file is empty; export or copy it again."), (" \n", "The file is empty; export or copy it again."),
        ("<svg/>", "The file is XML but not GPX, KML or TCX; export the track as GPX and import that."),
        ("<!-- open", "The file is XML but not GPX, KML or TCX; export the track as GPX and import that."),
        ("Rar!\u{1A}", "The file is a RAR archive; unpack it and import its files."),
    ])
    func `any other file is named in a sentence`(text: String, sentence: String) {
        #expect {
            try FileDetection.detect(Array(text.utf8))
        } throws: {
            ($0 as? FormatFault)?.description == sentence
        }
    }

    @Test(arguments: ["[]", #"{"a":[{"b":1}]}"#, "hello", "\u{1}\u{2}\u{3}"])
    func `an unknown file is refused`(text: String) {
        #expect(throws: FormatFault.self) { try FileDetection.detect(Array(text.utf8)) }
    }
}
