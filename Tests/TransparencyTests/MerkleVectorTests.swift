import Cryptography
import JSON
import TestSupport
import Testing

@testable import Transparency

/// The published test vectors of transparency-dev/merkle: each names a proof and whether it must be refused.
@Suite(.enabled(if: Repository.fixtures != nil, "WHEREABOUTS_FIXTURES names no folder with recorded files."))
struct MerkleVectorTests {
    struct Vector {
        let path: String
        let object: JSONValue

        func number(_ name: String) throws -> Int64? {
            // Two vectors have numbers beyond 2⁶³ − 1, which no log of the service reaches. Both must be refused.
            object[name]?.int
        }

        /// Some vectors on consistency have placeholders that are no digests ("don't care 1"). Their SHA-256 stands for
        /// them: equal ones stay equal, others differ.
        func digest(_ value: JSONValue?) throws -> Digest {
            let text = try #require(value?.string)
            let bytes = try #require(Base64.decode(text))
            return Digest(bytes: bytes) ?? SHA256().hash(bytes)
        }

        func digest(_ name: String) throws -> Digest { try digest(object[name]) }

        /// Whether the leaf and the root have 32 bytes. Where one has not, there is nothing that we could be asked.
        func hasDigests() throws -> Bool {
            try ["leafHash", "root"].allSatisfy { try Base64.decode(#require(object[$0]?.string))?.count == 32 }
        }

        func proof() throws -> [Digest] {
            guard let proof = object["proof"]?.array else { return [] }
            return try proof.map { try digest($0) }
        }

        var mustFail: Bool { object["wantErr"]?.bool ?? true }
    }

    private func vectors(_ folder: String) throws -> [Vector] {
        func files(_ path: String) -> [String] {
            names(in: path).flatMap { $0.hasSuffix(".json") ? ["\(path)/\($0)"] : files("\(path)/\($0)") }
        }
        let root = try #require(Repository.fixtures)
        return try files("\(root)/merkle/\(folder)").map {
            Vector(path: $0, object: try JSONDocument.parse(contents(ofFile: $0)).root)
        }
    }

    /// Runs every vector of a folder, and counts the ones that must be accepted and refused.
    private func run(
        _ folder: String, accepted: Int, refused: Int, _ verify: (Vector, SHA256) throws -> Bool
    ) throws {
        let sha256 = SHA256()
        var counts = [true: 0, false: 0]
        for vector in try vectors(folder) {
            let isRight = try verify(vector, sha256)
            #expect(isRight == !vector.mustFail, "\(vector.path)")
            counts[!vector.mustFail, default: 0] += 1
        }
        #expect(counts == [true: accepted, false: refused])
    }

    @Test func `inclusion proofs are as the vectors say`() throws {
        try run("inclusion", accepted: 6, refused: 92) { vector, sha256 in
            guard let index = try vector.number("leafIdx"), let size = try vector.number("treeSize"),
                try vector.hasDigests()
            else { return false }
            return try MerkleProof.verifyInclusion(
                of: vector.digest("leafHash"), at: index, inTreeOfSize: size, root: vector.digest("root"),
                proof: vector.proof(), sha256)
        }
    }

    @Test func `consistency proofs are as the vectors say`() throws {
        try run("consistency", accepted: 6, refused: 92) { vector, sha256 in
            guard let older = try vector.number("size1"), let newer = try vector.number("size2") else { return false }
            return try MerkleProof.verifyConsistency(
                from: older, root: vector.digest("root1"), to: newer, root: vector.digest("root2"),
                proof: vector.proof(), sha256)
        }
    }

    @Test func `subtree consistency proofs are as the vectors say`() throws {
        try run("subtreeconsistency", accepted: 12, refused: 106) { vector, sha256 in
            guard let start = try vector.number("start"), let end = try vector.number("end"),
                let size = try vector.number("size"), start <= end
            else { return false }
            return try MerkleProof.verify(
                subtree: start..<end, root: vector.digest("root1"), inTreeOfSize: size, root: vector.digest("root2"),
                proof: vector.proof(), sha256)
        }
    }

    /// A leaf of a subtree is a leaf of a tree that begins where the subtree does.
    @Test func `inclusion proofs in subtrees are as the vectors say`() throws {
        try run("subtreeinclusion", accepted: 12, refused: 192) { vector, sha256 in
            guard let index = try vector.number("leafIdx"), let start = try vector.number("start"),
                let end = try vector.number("end"), start < end, MerkleProof.isSubtree(start..<end),
                try vector.hasDigests()
            else { return false }
            return try MerkleProof.verifyInclusion(
                of: vector.digest("leafHash"), at: index - start, inTreeOfSize: end - start,
                root: vector.digest("root"), proof: vector.proof(), sha256)
        }
    }
}
