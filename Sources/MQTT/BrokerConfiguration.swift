/// The address of an MQTT broker, and the client's credentials and subscription.
package struct BrokerConfiguration: Sendable {
    package var host: String
    package var port: Int
    /// The name by which the broker recognizes this client and keeps its messages while it is away. No other client may
    /// use it.
    package var clientID: String
    package var user: String?
    package var password: String?
    /// `nil` without TLS.
    package var tls: TLS?
    /// A topic filter of MQTT.
    package var topic: String
    /// Further topic filters.
    package var furtherTopics: [String] = []

    package enum TLS: Sendable {
        /// Trusts the system's certificates.
        case system
        /// Trusts the certificates of a PEM file.
        case file(String)
    }

    package init(host: String, port: Int, clientID: String, topic: String) {
        (self.host, self.port, self.clientID, self.topic) = (host, port, clientID, topic)
    }
}

/// One message for the broker to hand on.
package struct BrokerPublication: Sendable {
    package let topic: String
    package let payload: [UInt8]
    /// Whether the broker stores the message for new subscribers. An empty payload then removes the stored message.
    package let isRetained: Bool

    package init(topic: String, payload: [UInt8], isRetained: Bool = false) {
        (self.topic, self.payload, self.isRetained) = (topic, payload, isRetained)
    }
}

/// One message as the broker handed it over.
package struct BrokerMessage: Sendable {
    package let topic: String
    package let payload: [UInt8]
    /// Whether the broker had stored the message for new subscribers: this client may have taken it long ago.
    package let isRetained: Bool
}
