import Answers
import Gazetteer
import Geodesy
import HTTPServer
import HouseEndpoints
import JSON

/// The background of the page's map: names of places, the basemap, and the operator's own map. It concerns no person, so
/// it is not recorded.
struct MapEndpoints: Sendable {
    let geocoding: GeocodeEndpoints
    /// The lines of coasts, borders and waters; `nil` without the file.
    let basemap: Basemap?
    /// The file of the operator's own map, whether or not there is one.
    let tilesPath: String

    /// The names of an answer. A map of 1,000 by 800 pixels has room for about as many.
    static let namesMax = 100
    /// From this zoom on, quarters of cities have names.
    private static let quartersFromZoom: Int64 = 11

    /// `GET /v1/places/names`: the most populous places of a box.
    ///
    /// May call: any valid token. For example `?south=47.5&north=48.5&west=16&east=17&zoom=9` has Wien first. Without
    /// a gazetteer the list is empty. A box over the antimeridian is asked for in two parts.
    ///
    /// - Throws: 400 for a side that is missing or not in degrees, 422 if the sides are in the wrong order.
    func names(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let latitudes = try Self.range(exchange, "south", "north", most: 90)
        let longitudes = try Self.range(exchange, "west", "east", most: 180)
        let zoom = try exchange.integer("zoom", in: 0...22, default: 10)
        let languages = exchange.languages(context)
        let names =
            context.gazetteer?.mostPopulous(
                latitudes: latitudes, longitudes: longitudes, count: Self.namesMax,
                hasQuarters: zoom >= Self.quartersFromZoom,
                in: languages) ?? []
        var writer = JSONWriter()
        writer.beginObject()
        writer.array("items") { writer in
            for name in names {
                writer.beginObject()
                writer.field("name", name.name)
                writer.field("latitude", name.coordinate.latitude)
                writer.field("longitude", name.coordinate.longitude)
                writer.field("population", Int64(name.population))
                writer.endObject()
            }
        }
        writer.endObject()
        var response = HTTPResponse.json(writer.bytes)
        response.headers.append(("Cache-Control", "private, max-age=3600"))
        response.headers.append(("Vary", "Accept-Language"))
        return response
    }

    /// Two parameters as a range of degrees. Throws 400 unless both are given and within ±`most`, and 422 unless they are
    /// in order.
    private static func range(
        _ exchange: Exchange, _ from: String, _ to: String, most: Double
    ) throws(Problem) -> ClosedRange<Double> {
        guard let low = exchange.request.parameter(from).flatMap(Double.init),
            let high = exchange.request.parameter(to).flatMap(Double.init), abs(low) <= most, abs(high) <= most
        else {
            throw .invalid(
                "\"\(from)\" and \"\(to)\" must be degrees from -\(Int(most)) to \(Int(most)), for example 47.5 and 48.5."
            )
        }
        guard low <= high else { throw .refused("\"\(to)\" must not be less than \"\(from)\".") }
        return low...high
    }

    /// `GET /basemap/index.json`.
    ///
    /// Needs no token. 304 if the browser has it already, 404 without the file.
    func basemapIndex(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard let basemap = basemap else { throw .notFound }
        var headers = basemap.headers(isImmutable: false)
        headers[0].value = "application/json"
        if exchange.request.header("if-none-match") == basemap.tag {
            return HTTPResponse(status: 304, headers: headers)
        }
        return HTTPResponse(status: 200, headers: headers, body: basemap.index)
    }

    /// `GET /basemap/*/*`: the lines of one cell, as they are stored: compressed.
    ///
    /// Needs no token. 404 for a cell without lines, which the index does not name.
    func basemapCell(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        guard let basemap = basemap, let band = UInt16(exchange.parameters[0]),
            let cell = UInt16(exchange.parameters[1]), let body = basemap.cell(band, cell)
        else { throw .notFound }
        var headers = basemap.headers(isImmutable: exchange.request.parameter("v") == basemap.hash)
        headers.append(("Content-Encoding", "gzip"))
        return HTTPResponse(status: 200, headers: headers, body: body)
    }

    /// `GET /tiles/*/*/*`: a picture of the operator's own map, by zoom, column and row from the north. A square without
    /// one is transparent.
    ///
    /// Needs no token. 404 without an imported map, or for numbers that are none.
    ///
    /// Cost: opens the file and reads one row by its primary key, for each picture.
    func tile(_ exchange: Exchange, _ context: AnswerContext) throws(Problem) -> HTTPResponse {
        let numbers = exchange.parameters.map { Int64($0) }
        guard let zoom = numbers[0], let x = numbers[1], let y = numbers[2] else { throw .notFound }
        guard let about = RasterTiles.about(in: tilesPath) else { throw .notFound }
        let picture = RasterTiles.tile(zoom: zoom, x: x, y: y, in: tilesPath) ?? RasterTiles.nothing
        let isImmutable = exchange.request.parameter("v") == about.hash
        return HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", RasterTiles.mediaType(of: picture) ?? "application/octet-stream"),
                ("Cache-Control", isImmutable ? "private, max-age=31536000, immutable" : "no-cache"),
                ("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Resource-Policy", "same-origin"),
            ], body: picture)
    }
}
