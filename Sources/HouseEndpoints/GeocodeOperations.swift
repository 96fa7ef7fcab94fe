package import HTTPInterface
import Replies
import Whereabouts

extension GeocodeEndpoints {
    /// Geocoding. It is about no person, so it is not recorded.
    package var operations: [Operation] {
        [
            Operation(
                "GET", APIPath.geocodeReverse.text, .answer(budgeted(reverse)),
                group: .places, summary: "Find the placemark of a coordinate.",
                description:
                    "Needs any valid token. Concerns no person, so it is not recorded. `latitude`, `longitude` and `distance` are those of the nearest populated place.",
                access: .token([]), discloses: .noPerson("Names of places on earth."),
                query: [
                    Operation.Parameter(
                        name: "latitude", schema: Schema.latitude, isRequired: true, description: "Degrees."),
                    Operation.Parameter(
                        name: "longitude", schema: Schema.longitude, isRequired: true, description: "Degrees."),
                    Operation.Parameter(
                        name: "horizontalAccuracy", schema: Schema.length,
                        description: """
                            Meters: other countries and time zones that are so near are named too, and a street only if it is
                            near enough wherever in the circle one is.
                            """),
                ],
                answer: Operation.Answer(Schema.placemark), hasNames: true),
            Operation(
                "POST", APIPath.geocodeReverse.text, .answer(budgeted(reverseBatch)),
                group: .places, summary: "Find the placemarks of many coordinates.",
                description:
                    "In the order of the request. Needs any valid token. Concerns no person, so it is not recorded.",
                access: .token([]), discloses: .noPerson("Names of places on earth."),
                body: Operation.Body(
                    Schema.body([
                        "coordinates": Schema.list(
                            [
                                "type": "array", "prefixItems": [Schema.latitude, Schema.longitude], "minItems": 2,
                                "maxItems": 2,
                            ], 0...Self.coordinatesMax)
                    ]), named: "Coordinates", example: ["coordinates": [[48.1737, 16.3778]]]),
                answer: Operation.Answer(Schema.object(["items": Schema.list(Schema.placemark)]), named: "Placemarks"),
                hasNames: true
            ),
            Operation(
                "GET", APIPath.geocodeForward.text, .answer(budgeted(forward)),
                group: .places, summary: "Find places by name.",
                description:
                    "The likeliest place comes first. Finds places, countries, first-order divisions, airports, lakes, and imported addresses and postal codes. Needs any valid token.",
                access: .token([]), discloses: .noPerson("Names of places on earth."),
                query: [
                    Operation.Parameter(
                        name: "q", schema: Schema.text(1...Limits.searchCharacters).with(["pattern": #"^[^\u0000]*$"#]),
                        isRequired: true,
                        description: "The name."),
                    .limit(Self.placesMax),
                ],
                answer: Operation.Answer(
                    Schema.object(["items": Schema.list(Self.foundPlacemark)]), named: "FoundPlaces"), hasNames: true),
            Operation(
                "POST", APIPath.geocodeForward.text, .answer(budgeted(forwardBatch)),
                group: .places, summary: "Find the likeliest place of each of many names.",
                description:
                    "In the order of the request, with null for a name that is not found. Needs any valid token.",
                access: .token([]), discloses: .noPerson("Names of places on earth."),
                body: Operation.Body(
                    Schema.body([
                        "texts": Schema.list(Schema.text(0...Limits.searchCharacters), 0...Self.textsMax)
                    ]), named: "PlaceNames", example: ["texts": ["Favoriten, Wien", "10 Rue de Rivoli, Paris"]]),
                answer: Operation.Answer(
                    Schema.object(["items": Schema.list(Schema.orNull(Self.foundPlacemark))]), named: "LikeliestPlaces"),
                hasNames: true),
        ]
    }

    private static let foundPlacemark = Schema.ref("FoundPlacemark")
}
