import Cryptography
import Glibc
import JSON
import TestSupport
import Testing
import Transparency

@testable import WhereaboutsTool

/// `prove` and `receipts check` on a house of two: ben has asked where anna is.
@Suite struct ProofCommandTests {
    private let folder = TemporaryFolder()
    private var proof: String { folder.path + "/anna.person-proof" }
    private var policy: String { folder.path + "/anna.tlog-policy" }
    private var receipts: String { folder.path + "/ben.receipts" }

    /// Lets ben see anna, and gives her a fix of now, so that his question is answered at once.
    init() throws {
        try #require(tool("person", "add", "ben").exitCode == 0)
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let fix = #"{"timestamp":\#(now.tv_sec),"latitude":30,"longitude":-40,"horizontalAccuracy":5}"#
        try #require(tool("import", "--person", "anna", try folder.write(fix, to: "fixes.jsonl")).exitCode == 0)
        try #require(
            tool("grant", "add", "--person", "anna", "--requester", "ben", "--precision", "exact").exitCode == 0)
        try #require(ask().exitCode == 0)
    }

    private func tool(_ arguments: String...) -> (exitCode: Int32, results: String, notes: String) {
        whereabouts(words: ["--data", folder.path + "/state"] + arguments)
    }

    private func ask() -> (exitCode: Int32, results: String, notes: String) {
        tool("ask", "--as", "ben", "--person", "anna", "--purpose", "lunch", "--wait", "1", "--receipts", receipts)
    }

    private func prove() -> (exitCode: Int32, results: String, notes: String) {
        tool("prove", "--person", "anna", "--output", proof, "--policy", policy)
    }

    private func check() -> (exitCode: Int32, results: String, notes: String) {
        tool("receipts", "check", "--receipts", receipts, "--proof", proof)
    }

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test func `a proof has the entries of all receipts, and the next one continues it`() throws {
        #expect(prove().results.contains("The service's key was new and is trusted from now on"))
        #expect(check().results == "Every receipt of 1 has its entry.\n")
        // The second answer is recorded after the proof.
        #expect(ask().exitCode == 0)
        let late = check()
        #expect(late.exitCode == 1)
        #expect(late.results.hasSuffix("No entry in the proof: 1 of 2 receipts.\n"))
        #expect(prove().results.contains("The log continues the one that was there"))
        #expect(check().results == "Every receipt of 2 has its entry.\n")
    }

    @Test func `reads as a person keep receipts by themselves, and those of the operator need none`() throws {
        #expect(tool("visits", "--person", "anna").exitCode == 0)
        #expect(tool("receipts", "check", "--person", "anna", "--proof", proof).exitCode == 3)
        for command in ["location", "visits"] {
            let read = tool(command, "--person", "anna", "--as", "anna")
            #expect(read.exitCode == 0, "\(read.notes)")
        }
        #expect(tool("track", "--person", "anna", "--as", "anna", "--no-receipts").exitCode == 0)
        #expect(prove().exitCode == 0)
        let checked = tool("receipts", "check", "--person", "anna", "--proof", proof)
        #expect(checked.results == "Every receipt of 2 has its entry.\n", "\(checked.notes)")
        let both = tool("track", "--person", "anna", "--as", "anna", "--no-receipts", "--receipts", receipts)
        #expect(both.exitCode == 2)
        #expect(tool("receipts", "check", "--proof", proof).exitCode == 2)
    }

    @Test func `the reason of a missing entry is told: the proof is older, or of another log`() throws {
        #expect(prove().exitCode == 0)
        #expect(ask().exitCode == 0)
        let late = try json(
            tool("receipts", "check", "--receipts", receipts, "--proof", proof, "--json").results)
        #expect(late["receipts"]?.int == 2)
        let missing = late["missing"]?.array.map { Array($0) } ?? []
        #expect(missing.map { $0["reason"]?.string } == ["newerThanProof"])
        let text = String(decoding: try contents(ofFile: receipts), as: UTF8.self)
        try write(text.replacing("— localhost/whereabouts/", with: "— localhost/elsewhere/").utf8, to: receipts)
        #expect(check().results.contains("is of another log"))
    }

    @Test func `a promise that the service did not keep is named`() throws {
        #expect(prove().exitCode == 0)
        let commit = try #require(Digest(bytes: [UInt8](repeating: 7, count: 32)))
        let receipt = try AskerReceipt(pseudonym: "nobody", commit: commit, recordedAtMs: 1_704_067_200_000)
        let signature = Base64.encode([UInt8](repeating: 1, count: 68))
        _ = try folder.write("\(receipt.text)\n— where.example/house \(signature)\n", to: "ben.receipts")
        let checked = check()
        #expect(checked.exitCode == 1)
        #expect(checked.results.contains(Base64.encode(commit.bytes)))
    }

    @Test func `a policy that cannot be read refuses no proof and costs no read`() throws {
        #expect(prove().exitCode == 0)
        // Each proof is a recorded read: the next one has its entry.
        func entries() throws -> Int64? {
            try json(
                tool("prove", "--person", "anna", "--output", proof, "--policy", policy, "--json").results
            )["entries"]?.int
        }
        let trusted = try contents(ofFile: policy)
        let count = try #require(try entries())
        let before = try contents(ofFile: proof)
        _ = try folder.write("quorum everybody\n", to: "anna.tlog-policy")
        let refused = prove()
        #expect(refused.exitCode == 3)
        #expect(refused.notes.contains("is no policy"))
        #expect(!exists(proof + ".refused"))
        #expect(try contents(ofFile: proof) == before)
        try write(trusted, to: policy)
        #expect(try entries() == count + 1)
    }

    @Test func `a file without receipts is not a good one`() throws {
        #expect(prove().exitCode == 0)
        _ = try folder.write("", to: "ben.receipts")
        #expect(check().notes.contains("has no receipt"))
        #expect(check().exitCode == 3)
        _ = try folder.write("whereabouts receipt v1\nlog x\n", to: "ben.receipts")
        #expect(check().notes.contains("cut off or not a receipt"))
    }

    @Test func `a proof that cannot be written leaves no policy behind`() {
        let refused = tool(
            "prove", "--person", "anna", "--output", folder.path + "/nowhere/anna.person-proof", "--policy", policy)
        #expect(refused.exitCode == 3)
        #expect(!exists(policy))
    }
}
