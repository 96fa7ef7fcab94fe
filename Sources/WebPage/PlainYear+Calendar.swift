import Answers
import Whereabouts

/// The days of the year as a calendar, a table for each month.
///
/// A day with data is a link with the distance below its number, in whole kilometers. The color says the same: it has
/// the levels of the calendar of `view-year.js`.
extension PlainYear {
    /// The meters from which a day has the next level.
    private static let levels = [0.0, 1000, 5000, 20_000, 60_000]

    /// Writes the months that have a day with data; nothing if there is none.
    ///
    /// - Parameter person: Whose days they are, if the address must name them.
    func writeCalendar(_ person: String?, _ text: PageText, _ html: inout HTML) {
        let months = Set(days.filter { !$0.value.days.isEmpty }.keys.map { String($0.prefix(7)) }).sorted()
        guard !months.isEmpty else { return }
        html.element("section", ["class": "months"]) { html in
            for month in months { write(month, person, text, &html) }
        }
    }

    /// Writes a month, for example `2026-05`, in weeks from Monday.
    private func write(_ month: String, _ person: String?, _ text: PageText, _ html: inout HTML) {
        guard let first = CalendarDay(month + "-01") else { return }
        html.element("table", ["class": "month"]) { html in
            html.element("caption", month)
            html.element("thead") { html in
                html.element("tr") { html in
                    for day in text.hours("Mo Tu We Th Fr Sa Su").split(separator: " ") {
                        html.element("th", ["scope": "col"], String(day))
                    }
                }
            }
            html.element("tbody") { html in
                var monday = first.monday
                while monday.number <= first.number || monday.text.hasPrefix(month) {
                    html.element("tr") { html in
                        for offset in 0..<7 {
                            let day = CalendarDay(number: monday.number + Int64(offset)).text
                            html.element("td") { if day.hasPrefix(month) { write(day: day, person, text, &$0) } }
                        }
                    }
                    monday = CalendarDay(number: monday.number + 7)
                }
            }
        }
    }

    private func write(day: String, _ person: String?, _ text: PageText, _ html: inout HTML) {
        let number = String(day.suffix(2).drop { $0 == "0" })
        guard let sum = days[day], !sum.days.isEmpty else { return html.text(number) }
        let level = Self.levels.filter { $0 <= sum.meters }.count
        let query = [(name: "plain", value: "true")] + (person.map { [(name: "person", value: $0)] } ?? [])
        html.element(
            "a",
            [
                "href": PageEndpoints.link("/day/\(day)", query), "class": "level-\(level)",
                "aria-label": "\(day): \(PlainText.meters(sum.meters))",
            ]
        ) { html in
            html.text(number)
            html.element("small", "\(Int64((sum.meters / 1000).rounded())) km")
        }
    }
}
