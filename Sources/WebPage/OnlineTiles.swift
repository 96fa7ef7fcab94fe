import JSON

/// A server of map pictures that the operator has chosen. Browsers ask it only after their reader has agreed, because it
/// sees which areas they look at.
package struct OnlineTiles: Equatable, Sendable {
    /// The address of a picture, with `{z}`, `{x}` and `{y}` for its zoom, its column and its row from the north. For
    /// example `https://tile.example.org/{z}/{x}/{y}.png`.
    package let address: String
    /// The scheme, host and port of the address; the only other origin in the page's Content Security Policy.
    package let origin: String
    /// Whose map it is, as its licence wants it shown: plain text.
    package let attribution: String
    /// The greatest zoom that the server has, 1 to 22; the page enlarges its pictures for greater ones.
    package let maxZoom: Int64

    package init(address: String, origin: String, attribution: String, maxZoom: Int64) {
        (self.address, self.origin, self.attribution, self.maxZoom) = (address, origin, attribution, maxZoom)
    }

    /// The members, as JSON for the page's script.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("address", address)
        writer.field("origin", origin)
        writer.field("attribution", attribution)
        writer.field("maxZoom", maxZoom)
        writer.endObject()
        return writer.bytes
    }
}
