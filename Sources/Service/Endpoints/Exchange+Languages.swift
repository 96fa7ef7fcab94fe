import Gazetteer
import HTTPServer

extension Exchange {
    /// The languages for names of places by the header `Accept-Language`, the best first; empty without a gazetteer.
    func languages(_ context: AnswerContext) -> [Language] {
        guard let gazetteer = context.gazetteer, let header = request.header("Accept-Language") else { return [] }
        return gazetteer.languages(Preference.preferred(header))
    }
}
