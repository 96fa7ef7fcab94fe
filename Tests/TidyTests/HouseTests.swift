import Testing

/// The promises that the Architecture page makes about the tree, checked against the sources.
@Suite struct HouseTests {
    /// The import graph: the other modules that each module may import. Arrows point one way, and one Swift module
    /// imports each C library, except OpenSSL: three do, which share nothing but the library.
    static let graph: [String: Set<String>] = [
        // Tools: know nothing of Whereabouts and not of one another. Most modules may read and write JSON and make
        // threads.
        "Threading": [],
        "SQLite": ["CSQLite"],
        "Geodesy": ["CGeodesic"],
        "ReferenceSystems": ["CPROJ", "Geodesy"],
        "Gazetteer": ["Geodesy"],
        "Cryptography": ["COpenSSL", "CSodium"],
        "Transparency": ["Cryptography"],
        "JSON": ["CSupport"],
        "QRCode": ["CQREncode"],
        "GZIP": ["CZlib"],
        "MQTT": ["CMosquitto"],
        "PostgreSQL": ["CPostgreSQL"],
        "Posting": ["CCurl", "CSupport"],
        "HTTPServer": ["CMicroHTTP", "CSupport"],
        "Replies": [],
        "WhereaboutsClient": ["Cryptography", "HTTPServer", "OpenedEnvelopes", "Posting", "Replies", "Whereabouts"],
        "LocationPush": ["CNGHTTP2", "COpenSSL"],
        // The pure half.
        "Whereabouts": ["Geodesy"],
        // Sealed fixes, for phones and recipients: no system, and no JSON.
        "Envelopes": ["Cryptography", "Whereabouts"],
        // The recipient's side: reached by no module of the house.
        "OpenedEnvelopes": ["Cryptography", "Envelopes", "Geodesy", "Replies", "Whereabouts", "WireFormats"],
        "WireFormats": ["CExpat", "Geodesy", "Replies", "Whereabouts"],
        "FileFormats": ["GZIP", "Geodesy", "ReferenceSystems", "Whereabouts", "WireFormats"],
        // The house.
        // Only the files of the index. Log knows their content.
        "FixRuns": ["Cryptography", "Whereabouts"],
        "Log": ["Cryptography", "FixRuns", "Geodesy", "SQLite", "Transparency", "Whereabouts"],
        // The log on a database server: between the tool and the log.
        "PostgreSQLLog": [
            "Cryptography", "Log", "LogVerifying", "PostgreSQL", "SQLite", "Transparency", "Whereabouts",
        ],
        "LogVerifying": ["Cryptography", "Log", "SQLite", "Transparency", "Whereabouts"],
        "Projections": ["Cryptography", "Log", "LogVerifying", "SQLite", "Whereabouts"],
        // A table sees the events that a projection hands it, and neither the log nor a key.
        "AuditTables": ["Cryptography", "Projections", "SQLite", "Whereabouts"],
        "Tables": ["AuditTables", "Cryptography", "Envelopes", "Geodesy", "Projections", "SQLite", "Whereabouts"],
        // The upper floor. Answers computes the answers for devices and people, and only its gate lets them out.
        "Answers": [
            "AuditTables", "CPageAssets", "Cryptography", "Envelopes", "Gazetteer", "Geodesy", "HTTPServer", "Log",
            "LogVerifying", "Projections", "ReferenceSystems", "Replies", "SQLite", "Tables", "Transparency",
            "Whereabouts", "WireFormats",
        ],
        "Maintenance": [
            "Cryptography", "Log", "LogVerifying", "PostgreSQLLog", "Projections", "Replies", "SQLite", "Tables",
            "Transparency", "Whereabouts",
        ],
        "Reactors": [
            "Answers", "AuditTables", "Cryptography", "Gazetteer", "Geodesy", "HTTPServer", "LocationPush", "Log",
            "MQTT", "PostgreSQL", "Posting",
            "Projections", "Replies", "SQLite", "Tables", "Transparency", "Whereabouts", "WireFormats",
        ],
        "HTTPInterface": [
            "Answers", "Cryptography", "GZIP", "HTTPServer", "Log", "Projections", "Replies", "SQLite", "Tables",
            "Whereabouts",
        ],
        "Readers": [
            "Answers", "Cryptography", "HTTPInterface", "HTTPServer", "Log", "Posting", "PostgreSQLLog", "Replies",
            "Whereabouts",
        ],
        "Shards": [
            "Answers", "Cryptography", "HTTPInterface", "HTTPServer", "Log", "Readers", "Replies", "Transparency",
            "Whereabouts",
        ],
        "ReportEndpoints": [
            "Answers", "Cryptography", "Envelopes", "HTTPInterface", "HTTPServer", "Log", "Projections", "Replies",
            "SQLite", "Whereabouts", "WireFormats",
        ],
        "PersonEndpoints": [
            "Answers", "AuditTables", "Cryptography", "Envelopes", "FileFormats", "Gazetteer", "Geodesy",
            "HTTPInterface",
            "HTTPServer", "Log",
            "Posting",
            "Projections", "Reactors", "Replies", "SQLite", "Tables", "Transparency", "Whereabouts", "WireFormats",
        ],
        "HouseEndpoints": [
            "Answers", "AuditTables", "Cryptography", "Gazetteer", "Geodesy", "HTTPInterface", "HTTPServer",
            "LocationPush", "Log", "LogVerifying",
            "Maintenance", "Projections", "Reactors", "Replies", "SQLite", "Tables", "Transparency", "Whereabouts",
            "WireFormats",
        ],
        "WebPage": [
            "Answers", "Cryptography", "GZIP", "Gazetteer", "Geodesy", "HTTPInterface", "HTTPServer",
            "HouseEndpoints", "Log", "Replies", "SQLite", "Transparency", "Whereabouts", "WireFormats",
        ],
        "Service": [
            "Answers", "CSupport", "Cryptography", "Gazetteer", "HTTPInterface", "HTTPServer", "HouseEndpoints",
            "LocationPush", "Log", "Maintenance", "PersonEndpoints", "PostgreSQLLog", "Projections", "Reactors",
            "Readers", "ReportEndpoints", "Shards", "Tables", "WebPage", "Whereabouts",
        ],
        // A friend's machine: it knows nothing of a house.
        "WitnessServer": ["Cryptography", "HTTPServer", "SQLite", "Transparency"],
        // The device's side: the service is reached over HTTP only.
        "PushStandIn": ["COpenSSL", "LocationPush"],
        "DeviceAgent": [
            "CoreLocation", "Cryptography", "Envelopes", "Gazetteer", "Geodesy", "LocationPush", "LocationSharingApp",
            "OpenedEnvelopes", "PushStandIn", "Whereabouts", "WireFormats",
        ],
        "CoreLocationSimulator": ["Gazetteer", "Geodesy", "ReferenceSystems", "Whereabouts", "WireFormats"],
        "CoreLocation": ["CoreLocationSimulator"],
        "LocationSharingApp": ["CoreLocation"],
        // Programs.
        "WhereaboutsTool": [
            "Answers", "Cryptography", "Envelopes", "FileFormats", "Gazetteer", "Geodesy", "HTTPServer",
            "LocationPush", "Log", "Maintenance", "OpenedEnvelopes", "PostgreSQL", "PostgreSQLLog", "Projections",
            "PushStandIn",
            "QRCode", "Reactors", "Readers", "ReferenceSystems", "Replies", "SQLite", "Service",
            "Transparency",
            "WebPage", "Whereabouts", "WhereaboutsClient", "WireFormats", "WitnessServer",
        ],
        "WhereaboutsSimulator": ["DeviceAgent", "Log", "PushStandIn", "Reactors", "Service", "Whereabouts"],
        "WhereaboutsBench": [
            "Cryptography", "FileFormats", "Gazetteer", "Geodesy", "HTTPServer", "LocationPush", "Log",
            "LogVerifying", "Maintenance", "PostgreSQL", "PostgreSQLLog",
            "Projections",
            "PushStandIn", "Reactors", "Service", "Whereabouts",
        ],
    ]

    /// Modules of the toolchain that have no clock, file or socket themselves but give access to one.
    static let system: Set<String> = ["Glibc", "Synchronization", "Dispatch"]
    /// Where Foundation's types are the interface.
    static let withFoundation: Set<String> = [
        "CoreLocationSimulator", "CoreLocation", "LocationSharingApp", "DeviceAgent",
    ]
    /// The modules that import FoundationNetworking, which URLSession needs on Linux.
    static let withNetworking: Set<String> = ["LocationSharingApp", "DeviceAgent"]

    private static func imports(of file: Tree.File) -> [String] {
        file.lines.compactMap { line -> String? in
            var words = line.split(separator: " ")[...]
            while let first = words.first,
                first.hasPrefix("@") || ["internal", "package", "public", "private", "fileprivate"].contains(first)
            {
                words = words.dropFirst()
            }
            guard words.first == "import", words.count >= 2 else { return nil }
            // `import struct Module.Name` names the module in its third word.
            return words.last.map { String($0.prefix { $0 != "." }) }
        }
    }

    @Test func `every module imports only modules below it`() {
        #expect(!Tree.sources.isEmpty)
        for file in Tree.sources {
            guard let below = Self.graph[file.module] else {
                Issue.record("\(file) belongs to a module that the graph does not know.")
                continue
            }
            var allowed = below
            // The pure half and the envelopes see neither the system nor JSON.
            if !["Whereabouts", "Envelopes"].contains(file.module) { allowed.formUnion(Self.system) }
            if ![
                "Whereabouts", "Envelopes", "Geodesy", "ReferenceSystems", "SQLite", "Cryptography", "Gazetteer",
            ].contains(file.module) {
                allowed.formUnion(["JSON", "Threading"])
            }
            // What phones need is also for Apple's systems.
            if file.path.hasPrefix("Sources/Cryptography/CryptoKit/") { allowed = ["CryptoKit"] }
            if file.module == "Geodesy" { allowed.insert("Darwin") }
            if Self.withFoundation.contains(file.module) { allowed.insert("Foundation") }
            if Self.withNetworking.contains(file.module) { allowed.insert("FoundationNetworking") }
            let strange = Self.imports(of: file).filter { !allowed.contains($0) }
            #expect(strange == [], "\(file)")
        }
    }

    /// Foundation would take 8 MiB of each service's memory, and no service uses it.
    @Test func `nothing that the tool imports imports Foundation`() {
        var (reached, rest): (Set<String>, [String]) = ([], ["WhereaboutsTool"])
        while let module = rest.popLast() {
            if reached.insert(module).inserted { rest += Self.graph[module] ?? [] }
        }
        #expect(reached.isDisjoint(with: Self.withFoundation) && reached.contains("Service"))
    }

    @Test func `the manifest has a target for every folder, and no more`() throws {
        let manifest = try #require(Tree.read("Package.swift"))
        for folder in Tree.entries(of: "Sources") {
            #expect(manifest.contains("\"\(folder)\""), "Sources/\(folder)")
        }
        for folder in Tree.entries(of: "Tests") where folder.hasSuffix("Tests") {
            let isNamed = manifest.contains("\"\(folder)\"") || manifest.contains("\"\(folder.dropLast(5))\"")
            #expect(isNamed, "Tests/\(folder)")
        }
        for module in Self.graph.keys {
            #expect(Tree.entries(of: "Sources").contains(module), "\(module)")
        }
        #expect(!manifest.contains(".package("), "Nothing is fetched when this is built.")
    }

    /// The names in the first column of the tables in a section of the Architecture page.
    private static func listed(in section: String) throws -> Set<String> {
        let page = try #require(Tree.read("Sources/Whereabouts/Documentation.docc/Architecture.md"))
        let lines = page.split(separator: "\n").drop { $0 != "## \(section)" }.dropFirst()
        var names: Set<String> = []
        for row in lines.prefix(while: { !$0.hasPrefix("## ") }) where row.hasPrefix("| `") {
            let parts = row.split(separator: "|")[0].split(separator: "`")
            for index in parts.indices where index % 2 == 1 { names.insert(String(parts[index])) }
        }
        return names
    }

    /// The folders in a folder of the sources, without headers of C and the documentation.
    private static func folders(in folder: String) -> [String] {
        Tree.entries(of: folder).filter {
            $0 != "include" && !$0.hasSuffix(".docc") && !Tree.entries(of: "\(folder)/\($0)").isEmpty
        }
    }

    @Test func `the Architecture page lists the modules and folders of the tree, and no others`() throws {
        let modules = Set(Tree.entries(of: "Sources"))
        #expect(try Self.listed(in: "The modules").symmetricDifference(modules) == [])

        let pure = Set(Self.folders(in: "Sources/Whereabouts"))
        #expect(try Self.listed(in: "The rooms of the pure half").symmetricDifference(pure) == [])

        var others: Set<String> = []
        for module in modules where module != "Whereabouts" {
            for folder in Self.folders(in: "Sources/\(module)") { others.insert("\(module)/\(folder)") }
        }
        let listed = try Self.listed(in: "The rooms of the service").filter { $0.contains("/") }
        #expect(listed.symmetricDifference(others) == [])
    }

    @Test func `the top of the tree shows six names and the licence`() {
        // A copy of the sources elsewhere may have other files beside it.
        guard Tree.entries(of: "").contains(".git") else { return }
        let visible = Set(Tree.entries(of: "").filter { !$0.hasPrefix(".") })
        #expect(visible == ["LICENSE", "Package.swift", "README.md", "Sources", "Tests", "data", "scripts"])
    }

    @Test func `a file has one subject`() {
        for file in Tree.sources {
            let count = file.lines.count - 1
            #expect(count <= 450, "\(file) has \(count) lines.")
        }
    }

    @Test func `a module of the house has one subject`() {
        let house: Set = [
            "Answers", "AuditTables", "FixRuns", "HTTPInterface", "HouseEndpoints", "Log", "Maintenance",
            "PersonEndpoints", "Projections", "Reactors", "Readers", "ReportEndpoints", "Shards", "Tables", "WebPage",
        ]
        var lines: [String: Int] = [:]
        for file in Tree.sources { lines[file.module, default: 0] += file.lines.count - 1 }
        for module in house {
            let count = lines[module, default: 0]
            #expect((1...5000).contains(count), "\(module) has \(count) lines.")
        }
        // The composition alone: no answer, no address, no table.
        #expect(lines["Service", default: 0] < 1500)
    }

    @Test(arguments: ["try!", "as!", "TODO", "FIXME", "fatalError("])
    func `nothing is left to be done or to chance`(word: String) {
        for file in Tree.sources {
            for (index, line) in file.lines.enumerated() where line.contains(word) {
                Issue.record("\(file):\(index + 1): \(word)")
            }
        }
    }
}
