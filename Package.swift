// swift-tools-version: 6.2
import PackageDescription

// The house, bottom to top. The import graph is explained in the Architecture page of the documentation catalog
// and checked by TidyTests.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

// On Apple's systems the package is what seals and opens envelopes, for phones, on CryptoKit. `scripts/dev/apple-part` builds
// and tests that part on Linux, with a stand-in for CryptoKit.
#if os(macOS)
let isApplePart = true
#else
let isApplePart = Context.environment["WHEREABOUTS_APPLE_PART"] != nil
#endif

func library(_ name: String, pkgConfig: String, package: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

func module(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: [.byName(name: name), "TestSupport"] + dependencies, swiftSettings: strict)
}

let package = Package(
    name: "whereabouts",
    products: [
        .library(name: "CoreLocation", targets: ["CoreLocation"]),
        .library(name: "WhereaboutsClient", targets: ["WhereaboutsClient"]),
        .executable(name: "whereabouts", targets: ["WhereaboutsTool"]),
        .executable(name: "whereabouts-simulate", targets: ["WhereaboutsSimulator"]),
        .executable(name: "whereabouts-bench", targets: ["WhereaboutsBench"]),
    ],
    targets: [
        library("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
        library("CPROJ", pkgConfig: "proj", package: "libproj-dev"),
        // Of PROJ, geodesic.h alone: one C file without a context, which compiles anywhere.
        library("CGeodesic", pkgConfig: "proj", package: "libproj-dev"),
        library("CMicroHTTP", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
        library("CNGHTTP2", pkgConfig: "libnghttp2", package: "libnghttp2-dev"),
        library("COpenSSL", pkgConfig: "libssl", package: "libssl-dev"),
        library("CExpat", pkgConfig: "expat", package: "libexpat1-dev"),
        library("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
        library("CQREncode", pkgConfig: "libqrencode", package: "libqrencode-dev"),
        library("CMosquitto", pkgConfig: "libmosquitto", package: "libmosquitto-dev"),
        library("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
        library("CSodium", pkgConfig: "libsodium", package: "libsodium-dev"),
        library("CPostgreSQL", pkgConfig: "libpq", package: "libpq-dev"),
        module("Geodesy", ["CGeodesic"]),
        tests("Geodesy", []),
        module("ReferenceSystems", ["CPROJ", "Geodesy"]),
        tests("ReferenceSystems", ["CPROJ", "Geodesy", "GeodesyTests"]),
        module("Gazetteer", ["Geodesy"]),
        tests("Gazetteer", ["Geodesy", "COpenSSL"]),
        module("SQLite", ["CSQLite"]),
        tests("SQLite", []),
        module("PostgreSQL", ["CPostgreSQL"]),
        tests("PostgreSQL", ["TestProcesses"]),
        // Two halves with the same names: libcrypto's, and CryptoKit's for Apple's systems.
        module(
            "Cryptography", isApplePart ? [] : ["COpenSSL", "CSodium"],
            exclude: [isApplePart ? "OpenSSL" : "CryptoKit"]),
        tests("Cryptography", []),
        module("Transparency", ["Cryptography"]),
        tests("Transparency", ["Cryptography", "JSON"]),
        module("Threading", []),
        tests("Threading", []),
        module("GZIP", ["CZlib"]),
        tests("GZIP", []),
        module("QRCode", ["CQREncode"]),
        tests("QRCode", []),
        .target(
            name: "CSupport", dependencies: ["CCurl", "CMicroHTTP"], linkerSettings: [.linkedLibrary("simdjson")]),
        // jemalloc in place of glibc's allocator. Debug builds keep the latter, which sanitizers replace.
        .target(
            name: "CAllocator", linkerSettings: [.linkedLibrary("jemalloc", .when(configuration: .release))]),
        // The files that browsers get, embedded by name.
        .target(name: "CPageAssets"),
        module("JSON", ["CSupport"]),
        tests("JSON", []),
        // The JSON of answers, for the service, its clients and the tool.
        module("Replies", ["JSON"]),
        tests("Replies", ["JSON"]),
        module("Whereabouts", ["Geodesy"]),
        // Fixes sealed end to end: made by phones, opened by recipients, kept by the service.
        module("Envelopes", ["Cryptography", "Whereabouts"]),
        tests("Envelopes", ["Cryptography", "Geodesy", "Whereabouts"]),
        // The recipient's side of them: keys in a file, and the answers that the service gives of open fixes.
        module(
            "OpenedEnvelopes",
            ["Cryptography", "Envelopes", "Geodesy", "JSON", "Replies", "Whereabouts", "WireFormats"]),
        module("WireFormats", ["CExpat", "Geodesy", "JSON", "Replies", "Whereabouts"]),
        tests("WireFormats", ["Geodesy", "JSON", "Replies", "Whereabouts"]),
        module("FileFormats", ["GZIP", "Geodesy", "JSON", "ReferenceSystems", "Whereabouts", "WireFormats"]),
        tests("FileFormats", ["GZIP", "Geodesy", "JSON", "Whereabouts", "WireFormats"]),
        // The files of the log's index of fixes. The rest of the index is in Log.
        module("FixRuns", ["Cryptography", "Whereabouts"]),
        tests("FixRuns", ["Cryptography", "Whereabouts"]),
        module(
            "Log",
            [
                "Cryptography", "FixRuns", "Geodesy", "JSON", "SQLite", "Threading", "Transparency", "Whereabouts",
            ]),
        // Reads a log and recomputes everything in it.
        module("LogVerifying", ["Cryptography", "Log", "SQLite", "Transparency", "Whereabouts"]),
        tests(
            "Log",
            [
                "Cryptography", "FixRuns", "Geodesy", "JSON", "LogVerifying", "SQLite", "Threading", "Transparency",
                "Whereabouts",
            ]),
        // The log on a database server.
        module(
            "PostgreSQLLog",
            [
                "Cryptography", "Log", "LogVerifying", "PostgreSQL", "SQLite", "Threading", "Transparency",
                "Whereabouts",
            ]),
        tests(
            "PostgreSQLLog",
            [
                "Cryptography", "Log", "LogTests", "LogVerifying", "Maintenance", "PostgreSQL", "Projections", "SQLite",
                "Tables", "TestProcesses", "Threading", "Transparency", "Whereabouts",
            ]),
        module("Projections", ["Cryptography", "Log", "LogVerifying", "SQLite", "Threading", "Whereabouts"]),
        tests(
            "Projections",
            ["Cryptography", "Geodesy", "Log", "LogTests", "LogVerifying", "SQLite", "Whereabouts"]),
        module("AuditTables", ["Cryptography", "Projections", "SQLite", "Whereabouts"]),
        module(
            "Tables",
            ["AuditTables", "Cryptography", "Envelopes", "Geodesy", "Projections", "SQLite", "Whereabouts"]),
        tests(
            "Tables",
            [
                "AuditTables", "Cryptography", "Envelopes", "Geodesy", "Projections", "SQLite", "Whereabouts",
                "WhereaboutsTests",
            ]),
        // The upper floor: answers about persons, the work that goes on by itself, and the addresses. Service puts it together.
        module(
            "Answers",
            [
                "AuditTables", "CPageAssets", "Cryptography", "Envelopes", "Gazetteer", "Geodesy", "HTTPServer", "JSON",
                "Log", "LogVerifying", "Projections", "ReferenceSystems", "Replies", "SQLite", "Tables", "Threading",
                "Transparency", "Whereabouts", "WireFormats",
            ]),
        module(
            "Maintenance",
            [
                "Cryptography", "JSON", "Log", "LogVerifying", "PostgreSQLLog", "Projections", "Replies", "SQLite",
                "Tables", "Threading", "Transparency", "Whereabouts",
            ]),
        module(
            "Reactors",
            [
                "Answers", "AuditTables", "Cryptography", "Gazetteer", "Geodesy", "HTTPServer", "JSON", "LocationPush",
                "Log", "MQTT",
                "PostgreSQL", "Posting", "Projections", "Replies", "SQLite", "Tables", "Threading", "Transparency",
                "Whereabouts",
                "WireFormats",
            ]),
        module(
            "HTTPInterface",
            [
                "Answers", "Cryptography", "GZIP", "HTTPServer", "JSON", "Log", "Projections", "Replies", "SQLite",
                "Tables", "Threading", "Whereabouts",
            ]),
        // Processes that follow the log of another one and answer reads, and the record of these reads at that one.
        module(
            "Readers",
            [
                "Answers", "Cryptography", "HTTPInterface", "HTTPServer", "JSON", "Log", "Posting", "PostgreSQLLog",
                "Replies", "Threading", "Whereabouts",
            ]),
        // A house whose people are in several logs: the directory, its shards, and the way of a request to its shard.
        module(
            "Shards",
            [
                "Answers", "Cryptography", "HTTPInterface", "HTTPServer", "JSON", "Log", "Readers", "Replies",
                "Threading", "Transparency", "Whereabouts",
            ]),
        module(
            "ReportEndpoints",
            [
                "Answers", "Cryptography", "Envelopes", "HTTPInterface", "HTTPServer", "JSON", "Log", "Projections",
                "Replies", "SQLite", "Threading", "Whereabouts", "WireFormats",
            ]),
        module(
            "PersonEndpoints",
            [
                "Answers", "AuditTables", "Cryptography", "Envelopes", "FileFormats", "Gazetteer", "Geodesy",
                "HTTPInterface", "HTTPServer", "JSON",
                "Log", "Posting", "Projections", "Reactors", "Replies", "SQLite", "Tables", "Threading", "Transparency",
                "Whereabouts", "WireFormats",
            ]),
        module(
            "HouseEndpoints",
            [
                "Answers", "AuditTables", "Cryptography", "Gazetteer", "Geodesy", "HTTPInterface", "HTTPServer", "JSON",
                "LocationPush", "Log", "LogVerifying", "Maintenance", "Projections", "Reactors", "Replies", "SQLite",
                "Tables",
                "Transparency", "Whereabouts", "WireFormats",
            ]),
        module(
            "WebPage",
            [
                "Answers", "Cryptography", "GZIP", "Gazetteer", "Geodesy", "HTTPInterface",
                "HTTPServer", "HouseEndpoints", "JSON", "Log", "Replies", "SQLite", "Threading", "Transparency",
                "Whereabouts", "WireFormats",
            ], exclude: ["Assets"]),
        module(
            "Service",
            [
                "Answers", "CSupport", "Cryptography", "Gazetteer", "HTTPInterface", "HTTPServer", "HouseEndpoints",
                "LocationPush", "Log", "Maintenance", "PersonEndpoints", "PostgreSQLLog", "Projections", "Reactors",
                "Readers",
                "ReportEndpoints", "Shards", "Tables", "Threading", "WebPage", "Whereabouts",
            ]),
        module("LocationPush", ["CNGHTTP2", "COpenSSL", "JSON", "Threading"]),
        module("PushStandIn", ["COpenSSL", "JSON", "LocationPush", "Threading"]),
        tests("LocationPush", ["JSON", "PushStandIn"]),
        module("MQTT", ["CMosquitto"]),
        tests("MQTT", []),
        module(
            "WhereaboutsClient",
            ["Cryptography", "HTTPServer", "JSON", "OpenedEnvelopes", "Posting", "Replies", "Whereabouts"]),
        tests("WhereaboutsClient", ["Cryptography", "HTTPServer", "JSON"]),
        module("Posting", ["CCurl", "CSupport", "Threading"]),
        tests("Posting", []),
        module("HTTPServer", ["CMicroHTTP", "CSupport", "JSON", "Threading"]),
        tests("HTTPServer", []),
        module("WitnessServer", ["Cryptography", "HTTPServer", "SQLite", "Threading", "Transparency"]),
        tests("WitnessServer", ["Cryptography", "HTTPServerTests", "SQLite", "Transparency", "TransparencyTests"]),
        module(
            "DeviceAgent",
            [
                "CoreLocation", "Cryptography", "Envelopes", "Gazetteer", "Geodesy", "JSON", "LocationPush",
                "LocationSharingApp", "OpenedEnvelopes", "PushStandIn", "Threading", "Whereabouts", "WireFormats",
            ]),
        tests(
            "DeviceAgent",
            [
                "CoreLocation", "Cryptography", "Envelopes", "Gazetteer", "Geodesy", "HTTPServer", "JSON",
                "LocationPush", "LocationSharingApp", "OpenedEnvelopes", "PushStandIn", "TestProcesses", "Threading",
            ]),
        module("CoreLocationSimulator", ["Gazetteer", "Geodesy", "ReferenceSystems", "Whereabouts", "WireFormats"]),
        module("CoreLocation", ["CoreLocationSimulator"]),
        tests("CoreLocationSimulator", ["CoreLocation", "LocationSharingApp", "TestProcesses"]),
        module("LocationSharingApp", ["CoreLocation"]),
        tests("Whereabouts", ["Geodesy"]),
        // Laws over long histories, each some seconds. They use the days and rides of the quick tests.
        .testTarget(
            name: "FoldLawTests", dependencies: ["Geodesy", "TestSupport", "Whereabouts", "WhereaboutsTests"],
            swiftSettings: strict),
        tests(
            "Service",
            [
                "Answers", "AuditTables", "CoreLocation", "Cryptography", "DeviceAgent", "Envelopes", "FileFormats",
                "FixRuns", "Gazetteer", "Geodesy",
                "HTTPInterface", "HTTPServer", "HouseEndpoints", "JSON", "LocationPush", "Log", "LogTests",
                "LogVerifying", "MQTT",
                "Maintenance", "OpenedEnvelopes", "PersonEndpoints", "PostgreSQL", "PostgreSQLLog", "Posting",
                "Projections", "ProjectionsTests",
                "PushStandIn",
                "Reactors", "Readers", "Replies", "ReportEndpoints", "SQLite", "Shards", "Tables", "TablesTests",
                "TestProcesses",
                "Threading",
                "Transparency", "WebPage", "Whereabouts", "WhereaboutsClient", "WireFormats", "WitnessServer",
            ]),
        .executableTarget(
            name: "WhereaboutsBench",
            dependencies: [
                "CAllocator", "Cryptography", "FileFormats", "Gazetteer", "Geodesy", "HTTPServer", "JSON",
                "LocationPush", "Log", "LogVerifying", "Maintenance", "PostgreSQL", "PostgreSQLLog", "Projections",
                "PushStandIn", "Reactors", "Service", "Threading", "Whereabouts",
            ], swiftSettings: strict),
        .executableTarget(
            name: "WhereaboutsSimulator",
            dependencies: [
                "CAllocator", "DeviceAgent", "JSON", "Log", "PushStandIn", "Reactors", "Service", "Whereabouts",
            ], swiftSettings: strict),
        .executableTarget(
            name: "WhereaboutsTool",
            dependencies: [
                "Answers", "CAllocator", "Cryptography", "Envelopes", "FileFormats", "Gazetteer", "Geodesy",
                "HTTPServer", "JSON", "LocationPush", "Log", "Maintenance", "OpenedEnvelopes", "PostgreSQL",
                "PostgreSQLLog",
                "Projections", "PushStandIn", "QRCode", "Reactors", "Readers", "ReferenceSystems", "Replies", "SQLite",
                "Service", "Threading", "Transparency", "WebPage", "Whereabouts", "WhereaboutsClient",
                "WireFormats", "WitnessServer",
            ], swiftSettings: strict),
        tests(
            "WhereaboutsTool",
            [
                "Answers", "Cryptography", "DeviceAgent", "FileFormats", "Gazetteer", "Geodesy", "HTTPInterface",
                "HTTPServer", "HTTPServerTests", "JSON", "LocationPush", "Log", "Maintenance", "OpenedEnvelopes",
                "PushStandIn",
                "Reactors", "ReferenceSystems", "Replies",
                "Service", "TestProcesses", "Threading", "Transparency",
                "WebPage", "Whereabouts", "WhereaboutsClient", "WireFormats", "WitnessServerTests",
            ]),
        .target(name: "TestSupport", dependencies: ["Threading"], path: "Tests/Support", swiftSettings: strict),
        // A separate target: with Foundation and the operators of tests together, the compiler's type check does not
        // finish.
        .target(name: "TestProcesses", path: "Tests/Processes", swiftSettings: strict),
        .testTarget(name: "TidyTests", swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// Without the instruments of libFuzzer it does not link: `scripts/dev/fuzz` builds it, and nothing else does.
if Context.environment["WHEREABOUTS_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "DialectFuzzer", dependencies: ["FileFormats", "Geodesy", "JSON", "Whereabouts", "WireFormats"],
            path: "Tests/Fuzzing",
            exclude: ["seeds"], swiftSettings: strict))
}

if isApplePart {
    let part: Set = ["CGeodesic", "Geodesy", "Whereabouts", "Cryptography", "Envelopes"]
    var targets = package.targets.filter { part.contains($0.name) }
    #if !os(macOS)
    for target in targets where target.name == "Cryptography" { target.dependencies = ["CryptoKit"] }
    targets += package.targets.filter {
        ["COpenSSL", "CSodium", "Threading", "TestSupport", "EnvelopesTests"].contains($0.name)
    }
    targets += [
        .target(name: "CryptoKit", dependencies: ["OpenSSLCryptography"], path: "Tests/CryptoKitStandIn"),
        // The script copies Sources/Cryptography there: two targets may not share a file.
        .target(
            name: "OpenSSLCryptography", dependencies: ["COpenSSL", "CSodium"],
            path: ".build/apple-part/OpenSSLCryptography", exclude: ["CryptoKit"], swiftSettings: strict),
        .testTarget(
            name: "CryptographyTests", dependencies: ["Cryptography", "TestSupport"],
            exclude: ["OpenSSL"], swiftSettings: strict),
    ]
    #endif
    package.targets = targets
    package.products = [.library(name: "Envelopes", targets: ["Envelopes"])]
}

// `scripts/test --quick` builds some test targets, named here with commas between, and what they need: nothing else is
// compiled, and the test bundle that is linked is a small one.
if let wanted = Context.environment["WHEREABOUTS_TEST_TARGETS"], !wanted.isEmpty {
    let names = wanted.split(separator: ",").map(String.init)
    var kept: Set<String> = []
    var pending = names
    while let name = pending.popLast() {
        guard kept.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            continue
        }
        for dependency in target.dependencies {
            if case .byNameItem(let name, _) = dependency { pending.append(name) }
        }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products = []
}
