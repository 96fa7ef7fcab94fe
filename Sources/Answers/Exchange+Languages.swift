package import Gazetteer
import HTTPServer

extension Exchange {
    /// The languages for place names from the header `Accept-Language`, the best first. Empty without the header or a
    /// gazetteer: names are then local ones.
    package func languages(_ context: AnswerContext) -> [Language] {
        guard let gazetteer = context.gazetteer, let header = request.header("Accept-Language") else { return [] }
        return gazetteer.languages(Preference.preferred(header))
    }
}
