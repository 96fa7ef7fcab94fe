import Cryptography
import TestSupport
import Testing

@testable import Transparency

/// Genuine proofs are accepted and forged ones refused, by our reader and by the script that shares no code with it.
@Suite struct ForgedProofTests {
    private static let hasPython = Foreign.hasPython(with: "hashlib, binascii, json")
    private static let script = "\(Repository.root)/scripts/verify_proof.py"

    /// Runs the script's functions over a folder of cases in one process; it writes a line for each that came out wrong.
    private static let judge = """
        import functools, importlib.util, os, sys
        sys.dont_write_bytecode = True
        spec = importlib.util.spec_from_file_location("verify_proof", sys.stdin.readline().strip())
        v = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(v)
        # Many of the files have the same signatures.
        v.ed25519_verify = functools.cache(v.ed25519_verify)
        folder = sys.stdin.readline().strip()
        def read(name):
            path = os.path.join(folder, name)
            return open(path, "rb").read() if os.path.exists(path) else None
        policy, house = v.Policy(read("policy")), v.Key(read("house").decode())
        count = 0
        for line in sys.stdin:
            name, expected = line.split()
            receipts = read(name + ".receipts")
            try:
                v.verify(read(name), policy, read(name + ".older"), v.receipts_of(receipts, house) if receipts else ())
                result = "proven"
            except v.Refused as refusal:
                result = "refused"
            count += 1
            if result != expected:
                print(name, result)
        print(count)
        """

    private func accepts(_ forged: Forger.Forged, _ policy: TrustPolicy, house: NoteVerifier) -> Bool {
        do throws(TransparencyError) {
            let earlier = try forged.older.map { bytes throws(TransparencyError) in
                try PersonProof(parsing: bytes).verify(policy: policy).checkpoint
            }
            let proof = try PersonProof(parsing: forged.proof)
            _ = try proof.verify(policy: policy, after: earlier)
            // Whether an entry may be without its content is the caller's to say. This one allows none.
            for entry in proof.entries { if case .erased = entry.opening { return false } }
            guard let receipts = forged.receipts else { return true }
            let signed = try AskerReceipt.notes(in: receipts).map { note throws(TransparencyError) in
                try AskerReceipt.verify(note, house: house)
            }
            return AskerReceipt.missing(signed, from: proof).isEmpty
        } catch {
            return false
        }
    }

    @Test(.enabled(if: hasPython, "There is no Python 3.")) func `a thousand forged proofs are refused`() throws {
        let forger = try Forger()
        let folder = TemporaryFolder()
        let house = try forger.scene.house().verifier
        let policy = try TrustPolicy(parsing: Array(forger.policy.utf8))
        try folder.write(forger.policy, to: "policy")
        try folder.write(house.text, to: "house")
        var list = "\(Self.script)\n\(folder.path)\n"
        func add(_ name: String, _ forged: Forger.Forged, isGenuine: Bool) throws {
            try write(forged.proof, to: folder.file(name))
            if let older = forged.older { try write(older, to: folder.file("\(name).older")) }
            if let receipts = forged.receipts { try write(receipts, to: folder.file("\(name).receipts")) }
            list += "\(name) \(isGenuine ? "proven" : "refused")\n"
            #expect(accepts(forged, policy, house: house) == isGenuine, "\(name)")
        }
        let receipts = Array(forger.receipts.joined(separator: [10]))
        let (genuine, older) = (forger.genuine.bytes, forger.older.bytes)
        for (index, files) in [(nil, nil), (older, nil), (genuine, nil), (nil, receipts), (older, receipts)]
            .enumerated()
        {
            let forged = Forger.Forged(proof: genuine, older: files.0, receipts: files.1)
            try add("genuine-\(index)", forged, isGenuine: true)
        }
        var random = SplitMix(19)
        for index in 0..<1000 {
            let kind = Forgery.allCases[index % Forgery.allCases.count]
            try add("\(kind)-\(index)", try forger.forge(kind, &random), isGenuine: false)
        }
        #expect(try Foreign.python(Self.judge, input: list) == "1005\n")
    }

    /// The script has its own arithmetic. Besides damaged signatures: S + L, which verifies in code that does not
    /// check its range, and keys of small order.
    @Test(.enabled(if: hasPython, "There is no Python 3.")) func `the script's Ed25519 agrees with OpenSSL's`() throws {
        var random = SplitMix(5)
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
        // L, the order of the base point, little-endian (RFC 8032, section 5.1).
        let order = try #require(Hex.decode("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010"))
        let neutral: [UInt8] = [1] + [UInt8](repeating: 0, count: 31)
        var cases: [(key: [UInt8], signature: [UInt8], message: [UInt8])] = [
            (neutral, neutral + [UInt8](repeating: 0, count: 32), [1]),
            ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 64), []),
            ([UInt8](repeating: 255, count: 32), neutral + neutral, []),
        ]
        for index in 0..<60 {
            let key = try Ed25519PrivateKey(seed: bytes(32))
            let message = bytes(index)
            var (publicKey, signature) = (key.publicKey, key.sign(message))
            switch index % 6 {
            case 0: signature[Int.random(in: 0..<32, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 1: signature[Int.random(in: 32..<64, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 2: publicKey[Int.random(in: 0..<32, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 3:
                var carry = 0
                for place in 0..<32 {
                    let sum = Int(signature[32 + place]) + Int(order[place]) + carry
                    (signature[32 + place], carry) = (UInt8(sum & 255), sum >> 8)
                }
            default: break
            }
            cases.append((publicKey, signature, message))
        }
        let expected = cases.map {
            ed25519Verify(publicKey: $0.key, signature: $0.signature, message: $0.message) ? "right" : "wrong"
        }
        let output = try Foreign.python(
            """
            import importlib.util, sys
            sys.dont_write_bytecode = True
            spec = importlib.util.spec_from_file_location("verify_proof", sys.stdin.readline().strip())
            v = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(v)
            for line in sys.stdin:
                key, signature, message = (bytes.fromhex(part) for part in line.rstrip("\\n").split(","))
                print("right" if v.ed25519_verify(key, signature, message) else "wrong")
            """,
            input: "\(Self.script)\n"
                + cases.map { "\(Hex.encode($0.key)),\(Hex.encode($0.signature)),\(Hex.encode($0.message))\n" }.joined()
        )
        #expect(output.split(separator: "\n").map(String.init) == expected)
        #expect(expected.count { $0 == "right" } >= 20)
    }

    @Test(.enabled(if: hasPython, "There is no Python 3.")) func `the script says who asked, as text and as JSON`()
        throws
    {
        let forger = try Forger()
        let folder = TemporaryFolder()
        try folder.write(forger.policy, to: "policy")
        try write(forger.genuine.bytes, to: folder.file("new"))
        try write(forger.older.bytes, to: folder.file("old"))
        try write(forger.older.note.bytes, to: folder.file("checkpoint"))
        func run(_ arguments: String) -> (status: Int32, output: String) {
            let (status, output) = Foreign.run(
                "cd '\(folder.path)' && '\(Foreign.python)' -B '\(Self.script)' \(arguments) 2>&1")
            // `wait` has the status of an exit in the second byte.
            return (status >> 8, output)
        }
        let table = run("new --policy policy --older old")
        try #require(table.status == 0, "\(table.output)")
        let lines = table.output.split(separator: "\n")
        try #require(lines.count == 19)
        #expect(
            lines[1] == "     2  2026-05-04T08:01:00.000Z  by: clara  event: LocationQueried  "
                + "purpose: to meet at the station, question 1  verdict: granted")
        #expect(lines[16] == "These are all 16 entries of where.example/whereabouts/7f3c/p/k2m9.")
        #expect(lines[17] == "Witness anna has seen the same log at 2026-05-04T13:06:40.000Z.")
        #expect(lines[18] == "The log continues the one that you had, of 12 entries.")
        let json = run("new --json --older checkpoint --key '\(forger.scene.signer.verifier.text)'")
        #expect(json.status == 0 && json.output.contains("\"proven\": true") && json.output.contains("\"older\": 12"))
        #expect(json.output.contains("\"recordedAt\": 1777881660.0, \"content\": {\"by\": \"clara\""))
        let cut = run("old --policy policy --older new")
        #expect(cut.status == 1 && cut.output == "Refused: the log had 16 entries earlier, and has 12 now.\n")
        #expect(run("new --policy missing").status == 2)
        #expect(run("new").status == 2)
    }
}
