import JSON
import TestSupport
import Testing
import Whereabouts

@testable import Answers
@testable import Reactors

/// The sentences of notices, in both languages, with times of a zone.
@Suite struct NoticeTextTests {
    private static let timeZones = TimeZoneDatabase()

    private static func text(_ type: String, _ data: String, _ wording: NoticeWording?) -> NoticeText {
        NoticeText(
            of: Array(#"{"type":"\#(type)","timestamp":"2026-05-04T08:00:00Z","data":\#(data)}"#.utf8),
            NoticeStyle(wording, timeZones))
    }

    /// Clocks in Vienna went forward at 01:00 UTC on 29 March 2026, and go back at 01:00 UTC on 25 October; by hand.
    @Test(arguments: [
        (1_774_745_999, "2026-03-29 01:59 CET", "29.3.2026 um 01:59 MEZ"),
        (1_774_746_000, "2026-03-29 03:00 CEST", "29.3.2026 um 03:00 MESZ"),
        (1_792_889_999, "2026-10-25 02:59 CEST", "25.10.2026 um 02:59 MESZ"),
        (1_792_890_000, "2026-10-25 02:00 CET", "25.10.2026 um 02:00 MEZ"),
    ])
    func `times follow the change of the clocks, and say so`(seconds: Int64, english: String, german: String) {
        let data = #"{"region":"school","type":"enter","time":\#(seconds)}"#
        let zone = "Europe/Vienna"
        #expect(
            Self.text("crossing", data, NoticeWording(language: .en, zone: zone)).text
                == "Entered school at \(english).")
        #expect(
            Self.text("crossing", data, NoticeWording(language: .de, zone: zone)).text
                == "Zone betreten am \(german): school.")
    }

    @Test func `without a zone the place has the word, then UTC; an older notice has UTC always`() {
        let time = #""time":1777881600"#
        let (placed, unplaced) = (
            #"{"region":"a","type":"exit",\#(time),"timeZone":"Asia/Kolkata"}"#,
            #"{"region":"a","type":"exit",\#(time)}"#
        )
        let own = NoticeWording(language: .en, zone: nil)
        #expect(Self.text("crossing", placed, own).text == "Left a at 2026-05-04 13:30 IST.")
        #expect(Self.text("crossing", unplaced, own).text == "Left a at 2026-05-04 08:00 UTC.")
        #expect(Self.text("crossing", placed, nil).text == "Left a at 2026-05-04 08:00 UTC.")
        // The person's zone before the place's; and one whose clocks have no name.
        let named = NoticeWording(language: .en, zone: "America/New_York")
        #expect(Self.text("crossing", placed, named).text == "Left a at 2026-05-04 04:00 EDT.")
        let nameless = NoticeWording(language: .en, zone: "Asia/Dubai")
        #expect(Self.text("crossing", placed, nameless).text == "Left a at 2026-05-04 12:00 UTC+04.")
        // A zone that this computer no longer has.
        let lost = NoticeWording(language: .de, zone: "Europe/Atlantis")
        #expect(Self.text("crossing", placed, lost).text == "Zone verlassen am 4.5.2026 um 08:00 UTC: a.")
    }

    @Test func `each kind of notice has a title and a sentence in both languages`() {
        let head = #""number":"r1","at":1777881600"#
        let (en, de) = (NoticeWording(language: .en, zone: nil), NoticeWording(language: .de, zone: nil))
        for (type, data, english, german) in [
            (
                "query", #"{\#(head),"requester":"ben","purpose":"dinner","verdict":"granted"}"#,
                "ben asks where you are: dinner.", "ben fragt, wo Sie sind: dinner."
            ),
            (
                "query", #"{\#(head),"requester":"ben","verdict":"refused","reason":"noGrant"}"#,
                "ben asks where you are. The question was refused: no grant.",
                "ben fragt, wo Sie sind. Die Frage wurde abgelehnt: keine Erlaubnis."
            ),
            (
                "consent", #"{\#(head),"consent":"asked"}"#, "A question was put to you.",
                "Eine Frage wartet auf Ihre Antwort."
            ),
            (
                "consent", #"{\#(head),"consent":"given"}"#, "You consented to a question.",
                "Sie haben einer Frage zugestimmt."
            ),
            (
                "push", #"{\#(head),"device":"phone","outcome":"accepted"}"#, "phone: Push accepted.",
                "phone: Push angenommen."
            ),
            (
                "end", #"{\#(head),"end":"timedOut"}"#,
                "A question about your location has ended: the phone did not answer in time.",
                "Eine Frage nach Ihrem Standort ist beendet: das Telefon hat nicht rechtzeitig geantwortet."
            ),
            (
                "disclosure", #"{\#(head),"requester":"ben","precision":"city","place":"Wien"}"#,
                "ben was shown your location near Wien, town only.",
                "ben hat Ihren Standort gesehen, nahe Wien, nur der Ort."
            ),
            (
                "read", #"{\#(head),"reader":"ben","question":"track"}"#, "ben read your track.",
                "ben hat Ihre Spur gelesen."
            ),
            (
                "change", #"{\#(head),"event":"GrantGiven","actor":"anna"}"#, "anna: grant given.",
                "anna: Erlaubnis gegeben."
            ),
            (
                "finding", #"{"pattern":"nights","requester":"ben","count":3}"#, "ben asked in 3 nights.",
                "ben hat in 3 Nächten gefragt."
            ),
            (
                "visit", #"{"place":"Café {who}","arrival":1777881600,"timeZone":"Europe/Vienna"}"#,
                "Arrived at Café {who} at 2026-05-04 10:00 CEST.", "Ankunft am 4.5.2026 um 10:00 MESZ: Café {who}."
            ),
            (
                "visit", #"{"place":"Wien","arrival":1,"departure":1777881600,"timeZone":"Europe/Vienna"}"#,
                "Left Wien at 2026-05-04 10:00 CEST.", "Abfahrt am 4.5.2026 um 10:00 MESZ: Wien."
            ),
            (
                "crossing", #"{"region":"a","type":"enter","time":1777881600,"withdrawn":true}"#,
                "Withdrawn: Entered a at 2026-05-04 08:00 UTC.",
                "Zurückgezogen: Zone betreten am 4.5.2026 um 08:00 UTC: a."
            ),
            (
                "silence", #"{"device":"phone","after":86400,"since":1777881600}"#,
                "phone has sent no location for a day, since 2026-05-04 08:00 UTC.",
                "Seit einem Tag kein Standort von phone, zuletzt am 4.5.2026 um 08:00 UTC."
            ),
            (
                "test", "{}", "This is a test: notices arrive here.",
                "Das ist ein Test: Benachrichtigungen kommen hier an."
            ),
            (
                "unheard", "{}", "An event of the type unheard happened.",
                "Ein Ereignis der Art unheard ist eingetreten."
            ),
        ] {
            #expect(Self.text(type, data, en).text == english)
            #expect(Self.text(type, data, de).text == german)
            // Neither language has a title that is only the name of a text.
            for wording in [en, de] { #expect(!Self.text(type, data, wording).title.contains("notice.")) }
            #expect(Self.text(type, data, en).title != Self.text(type, data, de).title)
        }
    }
}
