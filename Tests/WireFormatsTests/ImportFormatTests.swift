import Testing

@testable import WireFormats

@Suite struct ImportFormatTests {
    @Test(arguments: [
        ("<gpx>", ImportFormat.gpx),
        ("\u{FEFF}\n<?xml version=\"1.0\"?><!-- <kml> --><!DOCTYPE gpx>\n<gpx\nversion='1.1'>", .gpx),
        ("<g:gpx xmlns:g='x'/>", .gpx), (#"{"latitude":1,"longitude":2,"timestamp":3}"#, .fixes),
        ("\n" + #"{"user":"a","timestamp":3,"latitude":1}"# + "\r\nanything", .fixes),
    ])
    func `a file is known by how it begins`(text: String, format: ImportFormat) throws {
        #expect(try ImportFormat.detect(firstBytes: Array(text.utf8)) == format)
    }

    @Test func `two bytes a character are readable too`() throws {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><gpx/>"
        for mark in [[0xFF, 0xFE], [0xFE, 0xFF]] as [[UInt8]] {
            let bytes = mark + text.utf8.flatMap { mark[0] == 0xFF ? [$0, 0] : [0, $0] }
            #expect(try ImportFormat.detect(firstBytes: bytes) == .gpx)
        }
    }

    @Test(arguments: [
        ("", "The file is empty."), (" \n", "The file is empty."),
        ("PK\u{3}\u{4}", "The file is compressed; unpack it first."),
        ("<kml xmlns='x'>", "The file is KML, which cannot be imported; convert it to GPX first."),
        ("<TrainingCenterDatabase>", "The file is TCX, which cannot be imported; convert it to GPX first."),
        ("\u{e}\u{10}abcdef.FIT", "The file is FIT, which cannot be imported; convert it to GPX first."),
        ("<svg/>", "The file is XML but not GPX."), ("<!-- open", "The file is XML but not GPX."),
        (
            #"{"locations":[]}"#,
            "The file is JSON but its first line is not a fix with timestamp, latitude and longitude."
        ),
        ("[]", "The file is JSON but its first line is not a fix with timestamp, latitude and longitude."),
        ("time,lat,lon", "The file is neither GPX nor JSON lines."),
    ])
    func `any other file is named in a sentence`(text: String, sentence: String) {
        #expect {
            try ImportFormat.detect(firstBytes: Array(text.utf8))
        } throws: {
            ($0 as? UnknownImportFormat)?.description == sentence
        }
    }
}
