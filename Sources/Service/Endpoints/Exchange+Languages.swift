import Gazetteer
import HTTPServer

extension Exchange {
    /// What names of places are wanted in by the header `Accept-Language`, the best first; none without a gazetteer.
    func languages(_ context: AnswerContext) -> [Language] {
        guard let gazetteer = context.gazetteer, let header = request.header("Accept-Language") else { return [] }
        return gazetteer.languages(Preference.preferred(header))
    }
}
