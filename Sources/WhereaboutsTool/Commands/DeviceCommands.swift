import Answers
import Glibc
import JSON
import Log
import QRCode
import Reactors
import Replies
import Whereabouts
import WhereaboutsClient

/// `device add|list|remove`.
enum DeviceCommands {
    static let all = [
        Command(
            words: ["device", "add"], summary: "Add a person's device and show how its app reports.",
            operands: .one("NAME"), requires: [Options.person], accepts: [appOption, Options.json],
            details: """
                Prints the URL, user and password for the app, and what sets it up: links for OwnTracks, Overland and
                Traccar Client, ready lines for OsmAnd and GPSLogger, and a QR code for OwnTracks or the app of --app. The
                password is the device's reporting key; it is shown this once and not stored, and all of these hold it.
                "token add --device D" issues another.
                """, run: add),
        Command(
            words: ["device", "list"], summary: "List the devices: whether they report and can be woken.",
            accepts: [Options.person, Options.json],
            details: """
                Below the table stands what devices sent in the last seven days that could not be used, the newest of each,
                with the reason. "app" and wrong passwords are known since the service was started.
                """, run: list),
        Command(
            words: ["device", "remove"], summary: "Remove a device: its keys end, its history stays.",
            operands: .one("NAME"), accepts: [Options.json], run: remove),
    ]

    private static func add(_ invocation: Invocation) throws(ToolError) {
        let device = try invocation.handle()
        let person = invocation.required(Options.person)
        let answer = try House.withClient(invocation) { client throws(ToolError) in
            try client.post(APIPath.peopleDevices.parts(person.text)) { $0.field("handle", device.text) }
        }
        let url = try publicURL(invocation)
        let added = try answer.read(Recorded<MadeDevice>.self)
        let (user, password) = (added.made.user, added.made.password)
        let setup = AppSetup(url: url, user: user, password: password, person: person.text)
        if invocation.has(Options.json) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("handle", device.text)
            writer.field("person", person.text)
            writer.field("url", url + "/owntracks")
            writer.field("user", user)
            writer.field("password", password)
            writer.field("ownTracksLink", setup.link(for: .ownTracks))
            writer.field("overlandLink", setup.link(for: .overland))
            writer.field("traccarLink", setup.link(for: .traccar))
            writer.field("osmAndAddress", setup.osmAndAddress)
            writer.field("gpsLoggerBody", AppSetup.gpsLoggerBody)
            writer.members(of: Changed(number: added.number))
            writer.endObject()
            return invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        }
        let wanted = invocation[appOption]
        invocation.console.line(
            """
            Added the device \(device.text) of \(person.text). Its app reports with

              URL       \(url)/owntracks
              User      \(user)
              Password  \(password)

            """)
        for app in wanted.map({ [$0] }) ?? AppSetup.App.allCases {
            invocation.console.line(setup.instructions(for: app) + "\n")
            guard let link = setup.link(for: app) else { continue }
            invocation.console.line(link + "\n")
            // A camera could scan the wrong one of several codes.
            guard app == wanted ?? .ownTracks, let code = QRSymbol(link) else { continue }
            invocation.console.line(code.text(colored: isatty(STDOUT_FILENO) != 0))
        }
        invocation.console.line(
            """
            Other clients POST to \(url)/v1/fixes with "Authorization: Bearer" and the password.
            The password is shown this once; links and codes hold it.
            """)
    }

    /// The app to set up; without it, all apps.
    private static let appOption = Option(
        name: "app", placeholder: "APP", help: "show only how this app is set up, with its code",
        form: AppSetup.App.allCases.map(\.rawValue).joined(separator: ", "), read: { AppSetup.App(rawValue: $0) })

    /// The service's address for apps: from the configuration, otherwise the one it listens on.
    static func publicURL(_ invocation: Invocation) throws(ToolError) -> String {
        if case .server(let server) = try Reach(invocation) { return server.url }
        let path = try House.path(of: invocation)
        let configuration: ServiceConfiguration
        do throws(ServiceConfiguration.ReadError) {
            configuration = try ServiceConfiguration.read(path + "/config.json")
        } catch { throw .data("\(error)") }
        if let url = configuration.publicURL { return url.hasSuffix("/") ? String(url.dropLast()) : url }
        let running = DataDirectory.running(in: path)?.address.flatMap { SocketAddress($0) }
        return "http://" + (running?.text ?? configuration.listen)
    }

    private static func list(_ invocation: Invocation) throws(ToolError) {
        let only = invocation[Options.person]
        let devices = try House.withClient(invocation) { client throws(ToolError) in
            var devices: [(person: String, device: JSONValue)] = []
            let people =
                if let only { [only.text] } else { try client.people() }
            for person in people {
                for device in try client.items(APIPath.peopleDevices.parts(person)) { devices.append((person, device)) }
            }
            return devices
        }
        if invocation.has(Options.json) {
            var writer = JSONWriter()
            writer.beginObject()
            writer.array("devices") { array in
                for (person, device) in devices {
                    array.beginObject()
                    if let members = device.members {
                        for (name, value) in members {
                            array.key(name)
                            array.value(value)
                            if name == handleMember { array.field("person", person) }
                        }
                    }
                    array.endObject()
                }
            }
            writer.endObject()
            return invocation.console.result(writer.bytes + [UInt8(ascii: "\n")])
        }
        let now = Timestamp.now
        func age(_ moment: Moment?) -> String {
            guard let moment else { return "never" }
            return LocalTime.duration(seconds: max(0, now.seconds(since: Timestamp(moment)))) + " ago"
        }
        var table = Table(
            "DEVICE", "PERSON", "LAST CONTACT", "LAST FIX", "BATTERY", "REJECTED", "CAN BE WOKEN", "AUTHORIZATION",
            "APP")
        var items: [DeviceItem] = []
        for (person, json) in devices {
            let device = try json.read(DeviceItem.self)
            items.append(device)
            let status = device.authorization?.status
            let mayBeWoken = status == nil || status == AuthorizationStatus.authorizedAlways.word
            table.add(
                device.handle, person, age(device.lastContact), age(device.lastFix),
                device.battery.map { "\(Int(($0 * 100).rounded())) %" } ?? "", "\(device.rejected?.count ?? 0)",
                device.pushToken && mayBeWoken ? "yes" : "no", status ?? "not reported",
                device.app.map { $0.userAgent ?? $0.address } ?? "")
        }
        invocation.console.show(table, orElse: "There is no device yet; \"device add\" adds one.")
        for device in items { showTroubles(of: device, age, invocation) }
    }

    /// The member after which `--json` has the person.
    private static let handleMember = "handle"

    /// The rejected reports of one device in the table; `--json` has all of them.
    private static let rejectedShown = 3
    private static let rejectedCharacters = 200

    private static func showTroubles(
        of device: DeviceItem, _ age: (Moment?) -> String, _ invocation: Invocation
    ) {
        if let wrong = device.wrongPasswords {
            invocation.console.line(
                """

                \(device.handle.printable): \(wrong.count) times with a wrong password, \
                last \(age(wrong.newest)). "token add --device" issues a password.
                """)
        }
        for rejected in (device.rejected ?? []).prefix(rejectedShown) {
            invocation.console.line(
                """

                \(device.handle.printable): rejected \(age(rejected.at)) (\(rejected.reason)). \
                \(rejected.detail)
                """)
            guard let text = rejected.text, !text.isEmpty else { continue }
            invocation.console.line("  " + String(text.prefix(rejectedCharacters)).printable)
        }
    }

    private static func remove(_ invocation: Invocation) throws(ToolError) {
        let device = try invocation.handle()
        try invocation.remove("the device \(device.text)", APIPath.device.parts(device.text))
    }
}
