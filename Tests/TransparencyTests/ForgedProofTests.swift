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
            let proof = try PersonProof(parsing: forged.proof)
            if let older = forged.older {
                _ = try proof.verify(policy: policy, since: PersonProof(parsing: older))
            } else {
                _ = try proof.verify(policy: policy)
            }
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
        let nameless = PersonProof(entries: forger.genuine.entries, note: forger.genuine.note).bytes
        let earlierNameless = PersonProof(entries: forger.older.entries, note: forger.older.note).bytes
        // A name may be new since the older proof, or erased.
        for (index, files) in [
            (genuine, nil, nil), (genuine, older, nil), (genuine, genuine, nil), (genuine, nil, receipts),
            (genuine, older, receipts), (nameless, older, nil), (genuine, earlierNameless, nil),
        ].enumerated() {
            let forged = Forger.Forged(proof: files.0, older: files.1, receipts: files.2)
            try add("genuine-\(index)", forged, isGenuine: true)
        }
        var random = SplitMix(19)
        for index in 0..<1000 {
            let kind = Forgery.allCases[index % Forgery.allCases.count]
            try add("\(kind)-\(index)", try forger.forge(kind, &random), isGenuine: false)
        }
        #expect(try Foreign.python(Self.judge, input: list) == "1007\n")
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
}
