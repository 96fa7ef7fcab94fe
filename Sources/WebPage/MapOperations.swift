import HTTPInterface
import HouseEndpoints
import Replies

extension MapEndpoints {
    /// The names of the page's map.
    package var operations: [Operation] {
        [
            Operation(
                "GET", APIPath.placesNames.text, .answer(geocoding.budgeted(names)),
                group: .places, summary: "Name the places of a map.",
                description:
                    "The most populous places of the box come first. Needs any valid token. Concerns no person, so it is not recorded.",
                access: .token([]), discloses: .noPerson("Names of places on earth."),
                query: [
                    Operation.Parameter(
                        name: "west", schema: Schema.longitude, isRequired: true, description: "Degrees."),
                    Operation.Parameter(
                        name: "south", schema: Schema.latitude, isRequired: true, description: "Degrees."),
                    Operation.Parameter(
                        name: "east", schema: Schema.longitude, isRequired: true, description: "Degrees."),
                    Operation.Parameter(
                        name: "north", schema: Schema.latitude, isRequired: true, description: "Degrees."),
                    Operation.Parameter(
                        name: "zoom", schema: Schema.integer(0...22),
                        description: "The map's zoom; quarters of cities have names from 11 on."),
                ],
                answer: Operation.Answer(
                    Schema.object([
                        "items": Schema.list(
                            Schema.object([
                                "name": Schema.text, "latitude": Schema.latitude, "longitude": Schema.longitude,
                                "population": Schema.count,
                            ]), 0...Self.namesMax)
                    ]), named: "MapNames", items: "MapName"),
                hasNames: true)
        ]
    }
}
