import Answers
import FileFormats
import HTTPInterface
import Replies
import Whereabouts

extension ExportEndpoints {
    /// Tracks as files.
    var operations: [Operation] {
        [
            Operation(
                "GET", APIPath.peopleExport.text, .recorded(export),
                group: .stored, summary: "Export a person's track, or their archive, as a file.",
                description:
                    "The fixes as they were reported, in order of time, as GPX, GeoJSON, KML, CSV, the OwnTracks Recorder's lines (`rec`) or JSON lines with every member (`fixes`); or the person's archive as a zip file (`archive`), which has everything and takes neither a range nor a device. The person and the operator get every list that their token may read; a person with a grant gets the fixes that it shows. For the person, the operator, or a person with an exact grant that includes history. A file has at most 512 MiB. The read is recorded with the SHA-256 of the file before its first byte is sent.",
                access: .token(.query), discloses: .recorded(.track),
                query: ReadEndpoints.rangeParameters + [
                    Operation.Parameter(
                        name: "device", schema: Schema.handle, description: "Only the fixes of this device."),
                    .atLeast,
                ],
                answerTypes: (Self.forms.values.map(\.mediaType) + [Self.archiveType]).map {
                    String($0.prefix { $0 != ";" })
                }.sorted())
        ]
    }
}
