import CPageAssets

/// The files of the page that are embedded into the program. The page serves them; the server reads its own texts from
/// them.
package enum PageFiles {
    /// The bytes by name, for example `plain.de.json`.
    package static let embedded: [String: [UInt8]] = {
        var files: [String: [UInt8]] = [:]
        for index in 0..<page_assets_count() {
            let asset = page_asset_at(index)
            files[String(cString: asset.name)] = Array(UnsafeBufferPointer(start: asset.bytes, count: asset.count))
        }
        return files
    }()
}
