extension Standing {
    /// The devices by id and by handle, also removed ones.
    package struct Devices: TrackedRegister {
        /// By number.
        package internal(set) var all: Tracked<DeviceID, Device> = [:]
        /// The devices that are not removed.
        private var byHandle: [Handle: DeviceID] = [:]

        /// A device, changed in place; `nil` for a number that no device has.
        package subscript(id: DeviceID) -> Device? {
            @inline(__always) get { all[id] }
            _modify { yield &all[id] }
        }

        /// The device with this handle; `nil` also for a removed one.
        package func named(_ handle: Handle) -> DeviceID? { byHandle[handle] }

        mutating func add(_ id: DeviceID, of person: PersonID, _ handle: Handle?) {
            all[id] = Device(person: person, handle: handle)
            if let handle { byHandle[handle] = id }
        }

        /// Changes a device in place, if there is one of this number.
        mutating func change(_ id: DeviceID, _ body: (inout Device) -> Void) { all.change(id, body) }

        mutating func remove(_ id: DeviceID) {
            guard let known = all[id] else { return }
            if let handle = known.handle, byHandle[handle] == id { byHandle[handle] = nil }
            all[id]?.isRemoved = true
            all[id]?.push.token = nil
            all[id]?.reports.kept = []
        }

        /// Removes a device and all that is known of it but its owner.
        mutating func erase(_ id: DeviceID) {
            remove(id)
            all[id]?.handle = nil
            all[id]?.authorization = nil
            all[id]?.push = Device.Push()
            all[id]?.reports = Device.Reports()
            all[id]?.isSealed = false
        }

        /// - Parameter now: The new time of the house's clock.
        mutating func follow(clockSteppedBackBy milliseconds: Int64, to now: Timestamp) {
            for (id, device) in all
            where device.push.lastAt != nil || device.authorization != nil || device.reports.heardAt != nil {
                all[id]?.follow(clockSteppedBackBy: milliseconds, to: now)
            }
        }

        /// Starts a test of the way to the device, or notes its outcome.
        mutating func note(_ test: LocationPushAttempt, at now: Timestamp) {
            change(test.device) { device in
                if test.isTestLeaving {
                    device.push.start(at: now)
                    device.push.testUnderWay = test.query
                } else if device.push.testUnderWay == test.query {
                    device.push.testUnderWay = nil
                }
            }
        }
    }

    /// The device with this handle; `nil` also for a removed one.
    package func device(_ handle: Handle) -> DeviceID? { devices.named(handle) }

    mutating func add(_ id: DeviceID, of person: PersonID, _ handle: Handle?) {
        devices.add(id, of: person, handle)
        persons[person]?.devices.append(id)
        persons.noteNumber(of: id.principal)
    }

    /// Removes a device, and revokes its tokens.
    mutating func remove(_ id: DeviceID) {
        guard devices[id] != nil else { return }
        devices.remove(id)
        tokens.revoke(of: [id.principal])
    }
}

// MARK: - Rows

extension Standing.Devices {
    static let kind = StandingEntry.Kind.device

    static func write(_ device: Standing.Device, to fields: inout FieldWriter) { device.write(to: &fields) }

    /// Reserves capacity for the handles, so that loading them does not grow the dictionary repeatedly.
    mutating func reserve(_ count: Int) { byHandle.reserveCapacity(count) }

    mutating func load(_ id: DeviceID, _ fields: inout FieldReader) throws(CBORError) {
        let device = try Standing.Device(from: &fields)
        if !device.isRemoved, let handle = device.handle { byHandle[handle] = id }
        all.load(id, device)
    }
}
