internal import Glibc
internal import JSON
internal import LocationPush
internal import PushStandIn

/// `whereabouts push-stand-in --directory DIR` plays APNs for location pushes until SIGINT or SIGTERM. The options are
/// explained in the documentation page "The push stand-in".
///
/// Makes the credentials in `DIR` if they do not exist, prints the settings for a sender and a simulated phone, and
/// then a JSON line for each push and each event of a connection. `DIR/stand-in.json` has the same settings; it is
/// written once both ports listen:
///
///     {"processID":4711,"host":"localhost","port":40123,"courier":"127.0.0.1:40124","environment":"development",
///      "caFile":"DIR/ca.pem","keyFile":"DIR/AuthKey_….p8","keyID":"…","teamID":"…"}
///
/// Ports left out or 0 are chosen by the system. Only the loopback address is served.
///
/// - Returns: 0 after a signal, 2 for wrong arguments, 3 when a port, the directory or the script cannot be used.
package func runPushStandIn(arguments: [String]) -> Int32 {
    do {
        let arguments = try Arguments(
            arguments,
            options: [
                "--directory", "--listen", "--courier", "--environment", "--bundle-ids", "--streams", "--script",
            ])
        guard let named = arguments.values["--directory"], !named.isEmpty, arguments.rest.isEmpty else {
            throw UsageError(
                """
                Usage: whereabouts push-stand-in --directory DIR [--listen H:P] [--courier H:P]
                    [--environment development|production] [--bundle-ids A,B] [--streams N] [--script FILE]
                """)
        }
        // The reader of stand-in.json may have another working directory, so its paths are absolute.
        let directory = absolutePath(named)
        var configuration = PushStandIn.Configuration(directory: directory)
        configuration.port = try loopbackPort(arguments, "--listen")
        configuration.courierPort = try loopbackPort(arguments, "--courier")
        if let word = arguments.values["--environment"] {
            guard let environment = PushEnvironment(rawValue: word) else {
                throw UsageError("--environment is development or production.")
            }
            configuration.environment = environment
        }
        if let list = arguments.values["--bundle-ids"] {
            configuration.bundleIDs = Set(list.split(separator: ",").map(String.init))
        }
        if let text = arguments.values["--streams"] {
            guard let streams = Int(text), (1...1_000_000).contains(streams) else {
                throw UsageError("--streams is a whole number from 1 to 1000000.")
            }
            configuration.streamsMax = streams
        }
        if let file = arguments.values["--script"] {
            configuration.script = try PushStandInRule.script(try readFile(file))
        }
        configuration.record = { write($0.jsonLine + [UInt8(ascii: "\n")], toDescriptor: 1) }
        configuration.recordConnection = { write($0.jsonLine + [UInt8(ascii: "\n")], toDescriptor: 1) }
        let end = EndSignal()
        let standIn = try PushStandIn(configuration)
        try writeFile(
            facts(of: standIn, environment: configuration.environment), to: "\(directory)/stand-in.json")
        announce(standIn, environment: configuration.environment)
        end.wait()
        standIn.stop()
        return 0
    } catch let error as UsageError {
        complain(error.description)
        return 2
    } catch {
        complain("\(error)")
        return 3
    }
}

private func loopbackPort(_ arguments: Arguments, _ name: String) throws(UsageError) -> UInt16 {
    guard let text = arguments.values[name] else { return 0 }
    guard let address = HostAndPort(text), ["127.0.0.1", "localhost"].contains(address.host) else {
        throw UsageError("\(name) must be 127.0.0.1:PORT: the stand-in serves this host only.")
    }
    return address.port
}

private func facts(of standIn: PushStandIn, environment: PushEnvironment) -> [UInt8] {
    var text = JSONWriter()
    text.beginObject()
    text.field("processID", Int(getpid()))
    text.field("host", "localhost")
    text.field("port", Int(standIn.port))
    text.field("courier", "127.0.0.1:\(standIn.courierPort)")
    text.field("environment", environment.rawValue)
    text.field("caFile", standIn.credentials.trustFile)
    text.field("keyFile", standIn.credentials.providerKeyFile)
    text.field("keyID", standIn.credentials.keyID)
    text.field("teamID", standIn.credentials.teamID)
    text.endObject()
    return text.bytes + [UInt8(ascii: "\n")]
}

private func announce(_ standIn: PushStandIn, environment: PushEnvironment) {
    let lines = """
        pushes      https://localhost:\(standIn.port) (\(environment.rawValue))
        phones      127.0.0.1:\(standIn.courierPort)
        CA file     \(standIn.credentials.trustFile)
        key file    \(standIn.credentials.providerKeyFile)
        key id      \(standIn.credentials.keyID)
        team id     \(standIn.credentials.teamID)

        """
    write(Array(lines.utf8), toDescriptor: 1)
}
