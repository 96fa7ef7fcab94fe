internal import COpenSSL
internal import Glibc
internal import JSON
package import LocationPush

/// The secrets of a stand-in, made once in a directory and used again by later runs.
///
/// The directory (mode 0700) holds, each with mode 0600: `ca.pem`, the certificate to trust; `server.pem` and
/// `server-key.pem` for localhost, 127.0.0.1 and ::1; `provider.json`, `{"keyID":"…","teamID":"…"}`; and
/// `AuthKey_<key id>.p8`. The authority's own key is thrown away once the server's certificate is signed, so trusting
/// `ca.pem` trusts nothing else, now or later.
package struct PushStandInCredentials: Sendable {
    /// PEM file with the certificate that a sender must trust.
    package let trustFile: String
    /// PEM file with the certificate the stand-in shows.
    package let serverCertificateFile: String
    /// PEM file with its key.
    package let serverKeyFile: String
    /// The sender's key: PEM, PKCS#8, P-256.
    package let providerKeyFile: String
    /// Ten characters.
    package let keyID: String
    /// Ten characters.
    package let teamID: String

    /// Reads the credentials of a directory and makes those that are missing, the directory included.
    ///
    /// - Throws: ``TransportFault`` when a file cannot be read or written.
    package static func make(in directory: String) throws(TransportFault) -> PushStandInCredentials {
        if mkdir(directory, 0o700) != 0 && errno != EEXIST { throw TransportFault(call: "making \(directory)") }
        let certificates = ["ca.pem", "server.pem", "server-key.pem"].map { "\(directory)/\($0)" }
        if !certificates.allSatisfy({ access($0, R_OK) == 0 }) {
            let made = try LoopbackCertificates.make()
            for (path, text) in zip(certificates, [made.authority, made.server, made.serverKey]) {
                try PrivateFile.write(text, to: path)
            }
        }
        let (keyID, teamID) = try provider(in: directory)
        let keyFile = "\(directory)/AuthKey_\(keyID).p8"
        if access(keyFile, R_OK) != 0 {
            try PrivateFile.write(try PEM.privateKey(try PEM.makeKey()), to: keyFile)
        }
        return PushStandInCredentials(
            trustFile: certificates[0], serverCertificateFile: certificates[1], serverKeyFile: certificates[2],
            providerKeyFile: keyFile, keyID: keyID, teamID: teamID)
    }

    /// The provider token key that a sender signs with.
    ///
    /// - Throws: ``ProviderTokenError`` when the file was changed or cannot be read.
    package func providerTokenKey() throws(ProviderTokenError) -> ProviderTokenKey {
        let pem: [UInt8]
        do throws(TransportFault) {
            pem = try PrivateFile.read(providerKeyFile)
        } catch {
            throw .badKey(error.description)
        }
        return try ProviderTokenKey(pem: pem, keyID: keyID, teamID: teamID)
    }

    private static func provider(in directory: String) throws(TransportFault) -> (keyID: String, teamID: String) {
        let path = "\(directory)/provider.json"
        if access(path, R_OK) == 0 {
            let said = try? JSONDocument.parse(try PrivateFile.read(path)).root
            guard let keyID = said?["keyID"]?.string, let teamID = said?["teamID"]?.string else {
                throw TransportFault("\(path) does not name a key and a team")
            }
            return (keyID, teamID)
        }
        let (keyID, teamID) = (identifier(), identifier())
        var text = JSONWriter()
        text.beginObject()
        text.field("keyID", keyID)
        text.field("teamID", teamID)
        text.endObject()
        try PrivateFile.write(text.bytes, to: path)
        return (keyID, teamID)
    }

    private static func identifier() -> String {
        String((0..<10).map { _ in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".randomElement()! })
    }
}
