import Testing

@testable import Whereabouts

@Suite struct CalendarDayTests {
    /// Days since 1970 and weeks by Python's `datetime.date` (`toordinal() - 719163`, `isocalendar()`).
    @Test(arguments: [
        (0, "1970-01-01", "1970-W01"), (-3, "1969-12-29", "1970-W01"), (-4, "1969-12-28", "1969-W52"),
        (11_016, "2000-02-29", "2000-W09"), (20_087, "2024-12-30", "2025-W01"), (20_454, "2026-01-01", "2026-W01"),
        (20_819, "2027-01-01", "2026-W53"), (20_577, "2026-05-04", "2026-W19"), (47_540, "2100-02-28", "2100-W08"),
        (47_541, "2100-03-01", "2100-W09"), (-719_162, "0001-01-01", "0001-W01"),
    ])
    func `a day has the date and the week of the calendar`(number: Int64, date: String, week: String) {
        let day = CalendarDay(number: number)
        #expect(day.text == date)
        #expect(day.weekText == week)
        #expect(day.firstOfMonth.text == date.prefix(8) + "01")
        #expect(day.monday.weekday == 0 && (0...6).contains(day.number - day.monday.number))
    }
}
