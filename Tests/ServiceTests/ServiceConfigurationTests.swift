import Posting
import Testing
import Transparency
import Whereabouts

@testable import Reactors
@testable import Service

@Suite struct ServiceConfigurationTests {
    private static func app(_ more: String, key: String = "K", file: String = "/k.p8", bundle: String = "org.a")
        -> String
    {
        #"{"teamID":"T","keyID":"\#(key)","keyFile":"\#(file)","bundleIDs":["\#(bundle)"]\#(more)}"#
    }

    private func read(_ push: String) throws -> [ServiceConfiguration.Push] {
        try ServiceConfiguration.parse(Array(#"{"push":\#(push)}"#.utf8)).push
    }

    private func complaint(_ push: String) -> String {
        do {
            _ = try read(push)
            return "nothing"
        } catch { return "\(error)" }
    }

    @Test func `pushes are described by one object or by a list of them, and go to Apple unless told otherwise`() throws
    {
        let one = try #require(try read(Self.app("")).first)
        #expect(one.host == "api.push.apple.com" && one.port == 443 && one.environment == .production)
        let both = try read(
            "[\(Self.app(#","environment":"development""#)),\(Self.app(#","host":"here","port":2197,"caFile":"/ca""#))]"
        )
        #expect(both.map(\.host) == ["api.sandbox.push.apple.com", "here"])
        #expect(both.map(\.environment) == [.development, .production])
        #expect(both.map(\.port) == [443, 2197] && both.map(\.caFile) == [nil, "/ca"])
        #expect(try read("null").isEmpty)
        #expect(try read("[]").isEmpty)
    }

    @Test func `a broker and pass phrases are given by path, and refused by name where they are not`() throws {
        let read = try ServiceConfiguration.parse(
            Array(#"{"mqtt":{"host":"b","passwordFile":"/p"},"ownTracksKeys":{"phone":"/k"}}"#.utf8))
        #expect(read.mqtt?.host == "b" && read.mqtt?.port == 8883 && read.mqtt?.isEncrypted == true)
        #expect(read.mqtt?.passwordFile == "/p")
        #expect(read.ownTracksKeys.map { "\($0.key.text) \($0.value)" } == ["phone /k"])
        for (text, part) in [
            (#"{"mqtt":{}}"#, "\"host\""), (#"{"mqtt":7}"#, "\"mqtt\""),
            (#"{"mqtt":{"host":"b","port":0}}"#, "\"port\""),
            (#"{"mqtt":{"host":"b","password":"x"}}"#, "\"password\""),
            (#"{"ownTracksKeys":{"A B":"/k"}}"#, "names of devices"),
            (#"{"ownTracksKeys":["/k"]}"#, "devices and files"),
        ] {
            do {
                _ = try ServiceConfiguration.parse(Array(text.utf8))
                Issue.record("\(text) was taken.")
            } catch { #expect("\(error)".contains(part), "\(text)") }
        }
    }

    @Test func `a relay has a host, a sender and TLS, or is on this machine`() throws {
        let read = try ServiceConfiguration.parse(
            Array(
                #"{"mail":{"host":"smtp.a.example","security":"starttls","user":"u","passwordFile":"/p","from":"w@a.example"}}"#
                    .utf8))
        #expect(read.mail?.port == 587 && read.mail?.security == .startTLS && read.mail?.from.text == "w@a.example")
        #expect(try ServiceConfiguration.parse(Array(#"{"mail":{"host":"a","from":"w@a"}}"#.utf8)).mail?.port == 465)
        for (text, word) in [
            (#"{"mail":{"from":"w@a.example"}}"#, "\"host\""), (#"{"mail":{"host":"a"}}"#, "\"from\""),
            (#"{"mail":{"host":"a","from":"w@a, v@a"}}"#, "\"from\""),
            (#"{"mail":{"host":"a","security":"none","from":"w@a"}}"#, "this machine"),
            (#"{"mail":{"host":"a","user":"u","from":"w@a"}}"#, "\"passwordFile\""),
            (#"{"mail":{"host":"a/b","from":"w@a"}}"#, "\"host\""),
            (#"{"mail":{"host":"a","from":"w@a","name":"x"}}"#, "\"name\""),
            (#"{"mqtt":{"host":"a","homeAssistant":"home/+"}}"#, "\"homeAssistant\""),
            (#"{"mqtt":{"host":"a","homeAssistant":"/home"}}"#, "\"homeAssistant\""),
        ] {
            #expect {
                _ = try ServiceConfiguration.parse(Array(text.utf8))
            } throws: { "\($0)".contains(word) }
        }
        let mqtt = try ServiceConfiguration.parse(
            Array(#"{"mqtt":{"host":"a","homeAssistant":"homeassistant"}}"#.utf8))
        #expect(mqtt.mqtt?.discoveryPrefix == "homeassistant")
    }

    @Test func `targets of webhooks are origins of https, or of this machine`() throws {
        let read = try ServiceConfiguration.parse(
            Array(
                #"{"webhooks":{"targets":["https://A.example:8443","http://localhost:9000"],"privateAddresses":true}}"#
                    .utf8
            ))
        #expect(read.webhooks?.targets.map { "\($0)" } == ["https://a.example:8443", "http://localhost:9000"])
        #expect(read.webhooks?.allowsPrivateAddresses == true)
        #expect(try ServiceConfiguration.parse(Array("{}".utf8)).webhooks == nil)
        for (text, part) in [
            (#"{"webhooks":{}}"#, "\"targets\""), (#"{"webhooks":{"targets":[]}}"#, "at least one"),
            (#"{"webhooks":{"targets":["https://a.example/in"]}}"#, "origins"),
            (#"{"webhooks":{"targets":["a.example"]}}"#, "origins"),
            (#"{"webhooks":{"targets":["http://a.example"]}}"#, "https"),
            (#"{"webhooks":{"target":"x"}}"#, "\"target\""),
        ] {
            do {
                _ = try ServiceConfiguration.parse(Array(text.utf8))
                Issue.record("\(text) was taken.")
            } catch { #expect("\(error)".contains(part), "\(text)") }
        }
    }

    @Test func `witnesses have an address of https, or of this machine, and a key for cosignatures`() throws {
        let anna = "anna.example/w+05cb1c14+BO1JKMYo0cLG6ukDOJBZlWEpWSc6XGP5NjbBRhSshzfR"
        func read(_ list: String) throws -> [ServiceConfiguration.Witness] {
            try ServiceConfiguration.parse(Array(#"{"witnesses":\#(list)}"#.utf8)).witnesses
        }
        let both = try read(#"[{"url":"https://W.example/","key":"\#(anna)","caFile":"/ca","privateAddresses":true}]"#)
        #expect(both.map(\.url.text) == ["https://w.example/add-checkpoint"])
        #expect(both.map(\.key.text) == [anna] && both.map(\.caFile) == ["/ca"])
        #expect(both.map(\.allowsPrivateAddresses) == [true])
        let near = try read(#"[{"url":"http://localhost:7380/a","key":"\#(anna)"}]"#)
        #expect(near.map(\.url.text) == ["http://localhost:7380/a/add-checkpoint"])
        #expect(near.map(\.allowsPrivateAddresses) == [false])
        #expect(try read("null").isEmpty && read("[]").isEmpty)
        let one = #"{"url":"https://w.example","key":"\#(anna)"}"#
        // The key of a log, as in the documentation of proofs.
        let log = "where.example/whereabouts/7f3c/p/k2m9+0b7e79b9+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs"
        for (text, part) in [
            (one, "a list"), ("[7]", "\"witnesses\" must be"), ("[{}]", "\"url\" must be given"),
            (#"[{"url":"https://w.example"}]"#, "\"key\" must be given"),
            (#"[{"key":"\#(anna)"}]"#, "\"url\" must be given"),
            (#"[{"url":"http://w.example","key":"\#(anna)"}]"#, "https"),
            (#"[{"url":"ftp://w.example","key":"\#(anna)"}]"#, "\"url\""),
            (#"[{"url":"https://w.example/?a=b","key":"\#(anna)"}]"#, "\"url\""),
            (#"[{"url":"https://w.example","key":"\#(anna)x"}]"#, "\"key\""),
            (#"[{"url":"https://w.example","key":"\#(log)"}]"#, "\"key\""),
            (#"[{"url":"https://w.example","key":"\#(anna)","name":"w"}]"#, "\"name\""),
            (#"[{"url":"https://w.example","key":"\#(anna)","privateAddresses":1}]"#, "\"privateAddresses\""),
            ("[\(one),\(one)]", "a different one"),
            ("[\(Array(repeating: one, count: 17).joined(separator: ","))]", "at most 16"),
        ] {
            do {
                _ = try read(text)
                Issue.record("\(text) was taken.")
            } catch { #expect("\(error)".contains(part), "\(text): \(error)") }
        }
    }

    @Test func `an unknown key and a value that cannot be are refused by name`() {
        #expect(
            complaint(Self.app(#","p8":"x""#))
                == "config.json has a key \"p8\" in \"push\" that does not exist; see the README.")
        #expect(complaint(Self.app(#","port":0"#)) == "config.json: \"port\" must be a number from 1 to 65535.")
        #expect(complaint("7") == "config.json: \"push\" must be an object or a list of objects.")
        #expect(complaint(Self.app("", file: "")).contains("\"keyFile\""))
        #expect(complaint(Self.app(#","environment":"test""#)).contains("\"environment\""))
    }

    /// Each object that `config.json` can have, with a key more that none of them has.
    @Test func `writers are addresses with https, or of this machine, and make a reader`() throws {
        func parse(_ log: String) throws -> ServiceConfiguration.Database? {
            try ServiceConfiguration.parse(Array(#"{"log":\#(log)}"#.utf8)).database
        }
        let reader = try #require(
            try parse(
                #"{"postgresql":"service=x","writers":["https://a.example/","http://127.0.0.1:8081"],"writersCAFile":"/ca"}"#
            ))
        #expect(reader.writers.map { "\($0)" } == ["https://a.example", "http://127.0.0.1:8081"])
        #expect(reader.writersCAFile == "/ca")
        #expect(try parse(#"{"postgresql":"service=x","writers":null}"#)?.writers == [])
        let nine = (1...9).map { #""https://h\#($0).example""# }.joined(separator: ",")
        for writers in [
            "[]", "{}", #""https://a.example""#, #"["http://a.example"]"#, #"["https://a.example/path"]"#,
            #"["https://user@a.example"]"#, #"["ftp://a.example"]"#, "[1]", #"["https://a.example?x"]"#, "[\(nine)]",
        ] {
            #expect(throws: ServiceConfiguration.ReadError.self, "\(writers)") {
                try parse(#"{"postgresql":"service=x","writers":\#(writers)}"#)
            }
        }
    }

    @Test(
        arguments: [
            (#"{"listen":"127.0.0.1:1"#, "the top level"), (#"{"push":{"host":"a""#, "push"),
            (#"{"push":[{"host":"a""#, "push"), (#"{"mqtt":{"host":"a""#, "mqtt"),
            (#"{"webhooks":{"targets":["https://a.example"]"#, "webhooks"),
            (#"{"witnesses":[{"url":"https://a.example""#, "witnesses"),
        ])
    func `an unknown key is refused wherever it stands`(begin: String, place: String) {
        let isOpenText = begin.filter { $0 == "\"" }.count % 2 == 1
        let end = String(
            begin.reduce(into: [Character]()) { open, character in
                switch character {
                case "{": open.append("}")
                case "[": open.append("]")
                case "}", "]": open.removeLast()
                default: break
                }
            }.reversed())
        for key in ["pusch", "Push", "listen2", "", "__proto__", "#", "comment"] {
            let text = begin + (isOpenText ? "\"" : "") + #","\#(key)":null"# + end
            do throws(ServiceConfiguration.ReadError) {
                _ = try ServiceConfiguration.parse(Array(text.utf8))
                Issue.record("\(text) was taken.")
            } catch {
                guard case .unknownKey(let found, let within) = error else {
                    Issue.record("\(text): \(error)")
                    continue
                }
                #expect(found == key && within.contains(place), "\(text): \(error)")
            }
        }
    }

    @Test func `an app has one sender for each environment, a key one file`() throws {
        let sandbox = #","environment":"development""#
        #expect(try read("[\(Self.app("")),\(Self.app(sandbox))]").count == 2)
        #expect(
            complaint("[\(Self.app("")),\(Self.app("", key: "L"))]")
                == "config.json: \"bundleIDs\" must be free of org.a in all but one part of \"push\".")
        #expect(
            complaint("[\(Self.app("")),\(Self.app("", file: "/other.p8", bundle: "org.b"))]")
                == "config.json: \"keyFile\" must be the same wherever \"keyID\" is K.")
    }

    @Test func `a server of map pictures is one origin with an attribution`() throws {
        let tiles = try ServiceConfiguration.parse(
            Array(
                #"{"onlineTiles":{"address":"https://tile.example.org:8443/a/{z}/{x}/{y}.png?k=1","attribution":"© Maps","maxZoom":17}}"#
                    .utf8)
        ).onlineTiles
        #expect(tiles?.origin.description == "https://tile.example.org:8443")
        #expect(tiles?.attribution == "© Maps" && tiles?.maxZoom == 17)
        #expect(try ServiceConfiguration.parse(Array("{}".utf8)).onlineTiles == nil)
        for (address, more) in [
            ("https://{x}.example.org/{z}/{x}/{y}.png", #","attribution":"a""#),
            ("https://{s}.example.org/{z}/{x}/{y}.png", #","attribution":"a""#),
            ("https://tile.example.org/{z}/{x}.png", #","attribution":"a""#),
            ("https://tile.example.org/{z}/{x}/{y}/{y}", #","attribution":"a""#),
            ("http://tile.example.org/{z}/{x}/{y}.png", #","attribution":"a""#),
            ("https://tile.example.org;script-src *//{z}/{x}/{y}", #","attribution":"a""#),
            ("https://tile.example.org/{z}/{x}/{y}.png", ""),
            ("https://tile.example.org/{z}/{x}/{y}.png", #","attribution":"a","maxZoom":23"#),
            ("https://tile.example.org/{z}/{x}/{y}.png", #","attribution":"a","subdomains":"abc""#),
            ("/{z}/{x}/{y}.png", #","attribution":"a""#),
        ] {
            #expect(throws: ServiceConfiguration.ReadError.self, "\(address) \(more)") {
                _ = try ServiceConfiguration.parse(Array(#"{"onlineTiles":{"address":"\#(address)"\#(more)}}"#.utf8))
            }
        }
    }

    @Test func `events are shipped to a directory or by a command, and each is described in full`() throws {
        func read(_ shipping: String) throws -> ServiceConfiguration.Shipping? {
            try ServiceConfiguration.parse(Array(#"{"shipping":\#(shipping)}"#.utf8)).shipping
        }
        #expect(try read(#"{"directory":"/mnt/nas"}"#) == .directory("/mnt/nas"))
        #expect(
            try read(#"{"command":["/usr/bin/rclone","rcat","r:b/{name}"]}"#)
                == .command(["/usr/bin/rclone", "rcat", "r:b/{name}"]))
        #expect(try read("null") == nil)
        for (text, word) in [
            ("7", "\"shipping\""), ("{}", "either"), (#"{"directory":"nas"}"#, "absolute"),
            (#"{"directory":"/nas","command":["/a","{name}"]}"#, "either"), (#"{"folder":"/nas"}"#, "\"folder\""),
            (#"{"command":"/usr/bin/rclone {name}"}"#, "list"), (#"{"command":[]}"#, "list"),
            (#"{"command":["rclone","{name}"]}"#, "absolute"), (#"{"command":["/usr/bin/rclone","x"]}"#, "{name}"),
            (#"{"command":["/usr/bin/rclone","{name}",7]}"#, "texts"),
        ] {
            #expect {
                _ = try read(text)
            } throws: { "\($0)".contains(word) }
        }
    }
}
