import Answers
import Cryptography
import GZIP
import Glibc
import HTTPInterface
import HTTPServer
import Log
import Whereabouts

/// The files of the web page, by name: scripts, styles, texts and the icon, embedded into the program, and Leaflet from
/// Debian's package `libjs-leaflet`. Without the package the page works without a map.
///
/// `/assets/HASH/NAME` never changes, because the hash is that of the whole set; the page's HTML names files this way,
/// so that a script's relative imports have the same hash. `/assets/NAME` is the same file for readers that know no
/// hash.
struct PageAssets: Sendable {
    /// One file.
    struct Asset: Sendable {
        /// The media type, for example `text/javascript; charset=utf-8`.
        let type: String
        /// The file as it is sent to a browser that takes no gzip.
        let bytes: [UInt8]
        /// The same, compressed; `nil` if that is not shorter.
        let gzip: [UInt8]?
        /// The entity tag, made of the bytes' SHA-256.
        let tag: String
    }

    /// By name, for example `main.js` or `images/layers.png`.
    private(set) var byName: [String: Asset]
    /// 16 hexadecimal digits of the SHA-256 over all names and bytes.
    let hash: String
    /// By the name of a script, the scripts that it needs before it runs.
    private let imports: [String: [String]]

    /// Where Debian's package has Leaflet.
    static let leafletFolder = "/usr/share/javascript/leaflet"
    /// Leaflet's files: the name on the page, and the name in the folder.
    private static let leafletFiles: KeyValuePairs = [
        "leaflet.js": "leaflet.esm.min.js", "leaflet.css": "leaflet.css", "images/layers.png": "images/layers.png",
        "images/layers-2x.png": "images/layers-2x.png", "images/marker-icon.png": "images/marker-icon.png",
        "images/marker-icon-2x.png": "images/marker-icon-2x.png",
        "images/marker-shadow.png": "images/marker-shadow.png",
    ]
    /// Leaflet's longest file has 155 kB.
    private static let leafletBytes = 1 << 20

    /// - Parameter leaflet: The folder with Leaflet.
    ///
    /// A file that Leaflet's package lacks is left out; the page then shows no map.
    ///
    /// Cost: compresses every file once, at the start of the service.
    init(leaflet: String = leafletFolder) {
        var files = PageFiles.embedded
        for (name, file) in Self.leafletFiles {
            files[name] = DataDirectory.read("\(leaflet)/\(file)", atMost: Self.leafletBytes)
        }
        var byName: [String: Asset] = [:]
        let hasher = SHA256()
        for (name, bytes) in files {
            let sent = ["js", "css"].contains(name.split(separator: ".").last) ? Self.shortened(bytes) : bytes
            byName[name] = Self.asset(name, sent, Hash256(hasher.hash(sent)).bytes)
        }
        let sums = byName.sorted { $0.key < $1.key }.flatMap { Array("\($0.key)=\($0.value.tag)\n".utf8) }
        hash = String(Hex.encode(Hash256(hasher.hash(sums)).bytes).prefix(16))
        self.byName = byName
        imports = files.filter { $0.key.hasSuffix(".js") }.mapValues(Self.imports)
        guard let worker = byName[Self.workerName] else { return }
        let script = Array("const FILES = \(Self.list(frame));\n".utf8) + worker.bytes
        self.byName[Self.workerName] = Self.asset(Self.workerName, script, Hash256(hasher.hash(script)).bytes)
    }

    /// The script that keeps files for times without a network. As it is sent, it names the files of ``frame``, whose
    /// addresses have the hash of the set; the hash is therefore that of the script without these names.
    private static let workerName = "offline.js"

    /// The files with which a browser can open the page without a network and say so: the first script and its imports,
    /// the style, the icon and the texts of both languages.
    private var frame: [String] {
        addresses(ofScripts: ["main.js"])
            + ["page.css", "icon.svg", "strings.en.json", "strings.de.json"].compactMap(address(of:))
    }

    /// Texts as a list in JavaScript. Addresses of files need no escaping.
    private static func list(_ texts: [String]) -> String { "['" + texts.joined(separator: "', '") + "']" }

    /// The scripts that a script names in lines like `import { h } from './kit.js';`. Each of ours is one line, so the
    /// others, for example Leaflet's, count as having none.
    private static func imports(_ script: [UInt8]) -> [String] {
        script.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard line.starts(with: "import {".utf8) else { return nil }
            let parts = line.split(separator: UInt8(ascii: "'"))
            guard parts.count == 3, parts[1].starts(with: "./".utf8) else { return nil }
            return String(decoding: parts[1].dropFirst(2), as: UTF8.self)
        }
    }

    /// The addresses of scripts and of everything that they need, each once. A page that names them all at once gets
    /// them in one round trip instead of one for each step of the graph.
    ///
    /// - Parameter names: The scripts that the page runs first. An unknown name is left out.
    func addresses(ofScripts names: [String]) -> [String] {
        var known: Set<String> = []
        var waiting = names
        var found: [String] = []
        while !waiting.isEmpty {
            let name = waiting.removeFirst()
            guard known.insert(name).inserted, let address = address(of: name) else { continue }
            found.append(address)
            waiting += imports[name] ?? []
        }
        return found
    }

    /// One file with its compressed form and entity tag. PNG is compressed already.
    private static func asset(_ name: String, _ bytes: [UInt8], _ hash: [UInt8]) -> Asset {
        let type = Self.type(of: name)
        let packed = type.hasPrefix("image/png") ? nil : gzipped(bytes, .small)
        return Asset(
            type: type, bytes: bytes, gzip: packed.flatMap { $0.count < bytes.count ? $0 : nil },
            tag: "\"\(Hex.encode(hash).prefix(32))\"")
    }

    /// A script or style without lines that are comments, and without the space before lines: a third less. The page's
    /// files have neither texts over several lines nor comments beside code.
    private static func shortened(_ bytes: [UInt8]) -> [UInt8] {
        var short: [UInt8] = []
        short.reserveCapacity(bytes.count)
        var isInComment = false
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let code = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            if code.starts(with: "/*".utf8) { isInComment = true }
            if isInComment {
                isInComment = !Self.ends(code, with: "*/")
                continue
            }
            if code.isEmpty || code.starts(with: "//".utf8) { continue }
            short += code
            short.append(UInt8(ascii: "\n"))
        }
        return short
    }

    /// Whether a line ends with a text.
    private static func ends(_ line: ArraySlice<UInt8>, with text: String) -> Bool {
        line.suffix(text.utf8.count).elementsEqual(text.utf8)
    }

    /// The media type by the ending of a name.
    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "json": "application/json"
        case "webmanifest": "application/manifest+json"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        default: "application/octet-stream"
        }
    }

    /// The address of a file in the page's HTML; `nil` if there is no such file.
    func address(of name: String) -> String? { byName[name] == nil ? nil : "/assets/\(hash)/\(name)" }

    // MARK: Answers

    /// `GET /assets/*` and `GET /assets/*/*`.
    func read(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let parts = exchange.parameters
        guard let name = parts.last else { throw .notFound }
        if parts.count == 1 { return try answer(name, exchange.request, isImmutable: false) }
        // A page that was opened before an upgrade asks for the old set: it gets the file of today, which it may not
        // keep.
        return try answer(name, exchange.request, isImmutable: parts[0] == hash)
    }

    /// `GET /assets/*/images/*`.
    func image(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        let isImmutable = exchange.parameters[0] == hash
        return try answer(
            "images/\(exchange.parameters[1])", exchange.request, isImmutable: isImmutable)
    }

    /// `GET /favicon.ico`, which browsers ask for by themselves.
    func icon(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try answer("icon.svg", exchange.request, isImmutable: false)
    }

    /// `GET /offline.js`, the script that makes the page installable, and `GET /manifest.webmanifest`. A browser lets a
    /// script of this kind see the addresses below its own only, so it is at the top.
    func top(
        _ exchange: Exchange, _ context: AnswerContext
    ) throws(Problem) -> HTTPResponse {
        try answer(String(exchange.request.path.dropFirst()), exchange.request, isImmutable: false)
    }

    private func answer(_ name: String, _ request: HTTPRequest, isImmutable: Bool) throws(Problem) -> HTTPResponse {
        guard let asset = byName[name] else { throw .notFound }
        var headers = [
            (name: "Content-Type", value: asset.type), ("ETag", asset.tag), ("Vary", "Accept-Encoding"),
            ("Cache-Control", isImmutable ? "public, max-age=31536000, immutable" : "no-cache"),
            ("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ]
        let known = request.header("if-none-match").map { $0.split(separator: ",") } ?? []
        if known.contains(where: { tag in tag.filter { $0 != " " }.replacing("W/", with: "") == asset.tag }) {
            return HTTPResponse(status: 304, headers: headers)
        }
        guard let gzip = asset.gzip, request.header("accept-encoding").map(ContentCoding.takesGZIP) ?? false else {
            return HTTPResponse(status: 200, headers: headers, body: asset.bytes)
        }
        headers.append(("Content-Encoding", "gzip"))
        return HTTPResponse(status: 200, headers: headers, body: gzip)
    }
}
