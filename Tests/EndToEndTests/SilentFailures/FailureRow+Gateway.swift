import CoreRig
import Testing
import TomboloAPNs
import TomboloCore
import TomboloSimulator

extension FailureRow {
    private static func topic(_ what: String, _ topic: String, _ reason: String) -> FailureRow {
        .init(
            what, .lint(.topicSuffix), .answered(reason),
            warn: { PushLint.codes { $0.topic = topic }.map { .lint($0) } },
            endure: {
                var gateway = GatewayUnderFailure()
                return gateway.push(topic: topic)
            })
    }

    /// The relay says it with the next event: the producer of the push is long gone.
    private static func providerToken(
        _ what: String, _ reason: String, status: Int = 403,
        endure: @escaping @Sendable (inout GatewayUnderFailure) -> [Silence]
    ) -> FailureRow {
        .init(
            what, .lint(.upstreamClosed), .answered(reason),
            warn: {
                try Relaying.warnings(
                    .update, #"{"state":{"lap":2}}"#,
                    after: { rig in
                        let answer = APNsAnswer(
                            status: status, body: Array("{\"reason\":\"\(reason)\"}".utf8))
                        rig.verdict = { _ in answer.result }
                        rig.advance(to: 30)
                        rig.command(.update, #"{"state":{"lap":1}}"#)
                    })
            },
            endure: {
                var gateway = GatewayUnderFailure()
                return endure(&gateway)
            })
    }

    static let ofGateway: [FailureRow] = [
        topic("topic suffix missing", "com.example.app", "BadTopic"),
        topic(
            "topic suffix doubled", PhoneUnderFailure.topic + ".push-type.liveactivity",
            "TopicDisallowed"),
        .init(
            "sandbox token on production", .lint(.environmentUnstated),
            .answered("BadDeviceToken"),
            warn: {
                var rig = Rig()
                rig.tell(.register(try DeviceRegistration(reading: Rig.json("{}"))))
                return rig.lastStored?.lint.map { .lint($0.code) } ?? []
            },
            endure: {
                var gateway = GatewayUnderFailure(.production, tokenOf: .sandbox)
                return gateway.push()
            }),
        .init(
            "channel of the other environment", .lint(.channelEnvironment),
            .answered("ChannelNotRegistered"),
            warn: {
                var rig = Rig {
                    let app = $0.apps[0]
                    $0.apps.append(
                        .init(
                            tenant: app.tenant, id: app.id, environment: .production,
                            allowsLab: true))
                }
                rig.channel("news", "AAAA")
                let fields = #"{"app":"com.example.app","environment":"production"}"#
                rig.tell(.register(try DeviceRegistration(reading: Rig.json(fields))))
                rig.command(
                    .start,
                    #"{"type":"T","app":"com.example.app","state":{},"audience":{"channel":"news"}}"#
                )
                return rig.lastAccepted?.lint.map { .lint($0.code) } ?? []
            },
            endure: {
                var sandbox = GatewayUnderFailure(.sandbox)
                let channel = sandbox.makeChannel()
                guard sandbox.broadcast(on: channel).isEmpty else { return [] }
                var production = GatewayUnderFailure(.production)
                return production.broadcast(on: channel)
            }),
        .init(
            "expiration on a no-storage channel", .lint(.channelExpiration),
            .answered("BadExpirationDate"),
            warn: {
                PushLint.codes {
                    ($0.channel, $0.expiration) = ("AAAA", "1800000600")
                }.map { .lint($0) }
            },
            endure: {
                var gateway = GatewayUnderFailure()
                return gateway.broadcast(on: gateway.makeChannel(), expiration: "1800000600")
            }),
        providerToken("provider token wrong", "InvalidProviderToken") { gateway in
            gateway.push(providerToken: gateway.providerToken(team: "TEAM999999"))
        },
        providerToken("provider token stale", "ExpiredProviderToken") { gateway in
            gateway.push(providerToken: gateway.providerToken(issuedAt: PushLint.now - 3_601))
        },
        providerToken(
            "provider token renewed too often", "TooManyProviderTokenUpdates", status: 429
        ) { gateway in
            (1...3).flatMap { age in
                gateway.push(
                    providerToken: gateway.providerToken(issuedAt: PushLint.now - Int64(age)))
            }
        },
    ]
}
