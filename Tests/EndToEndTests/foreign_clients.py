#!/usr/bin/env python3
"""Clients that nobody here wrote, unmodified, against the simulator of Apple.

Usage: foreign_clients.py PROGRAM

Needs aioapns and httpx[http2] (deploy/test makes a virtual environment with them), curl and nghttp. Each
client's right push is accepted; each wrong one is refused with Apple's status and reason. The last line
on stdout is the summary, as JSON; the exit status is 0 where all went as expected.
"""
import asyncio
import json
import ssl
import subprocess
import time

import aioapns
import aioapns.connection
import httpx
import jwt
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.utils import base64url_encode

from world import BUNDLE, KEY_ID, TEAM_ID, Running, equal, finish, folder, push_key, write

TOPIC = BUNDLE + ".push-type.liveactivity"
TOKEN = "a1f0" * 20
CHECKS = []


def told(client, what, expected, got):
    CHECKS.append(what)
    equal(f"{client}: {what}", expected, got)


class Simulator(Running):
    def __init__(self):
        self.work = folder()
        for name in ("key", "other"):
            with open(push_key(self.path(name + ".p8"))) as file:
                setattr(self, name, file.read())
        super().__init__(
            "sim", "--listen", "127.0.0.1:0", "--phones", "0", "--accept-any-token", "--key-file", self.path("key.p8"),
            "--key-id", KEY_ID, "--team-id", TEAM_ID, "--topic", BUNDLE, "--ca-out", self.path("ca.pem"))
        self.url = self.ready["simulator"]
        self.port = int(self.url.rsplit(":", 1)[1])

    def path(self, name):
        return f"{self.work}/{name}"

    def bearer(self, age=0, key=None, der=False):
        headers = {"alg": "ES256", "kid": KEY_ID}
        claims = {"iss": TEAM_ID, "iat": int(time.time()) - age}
        if not der:
            return "bearer " + jwt.encode(claims, key or self.key, "ES256", headers)
        signed = b".".join(base64url_encode(json.dumps(part).encode()) for part in (headers, claims))
        private = serialization.load_pem_private_key(self.key.encode(), None)
        signature = private.sign(signed, ec.ECDSA(hashes.SHA256()))
        return "bearer " + (signed + b"." + base64url_encode(signature)).decode()


def payload(state="x"):
    return {"aps": {"timestamp": int(time.time()), "event": "update", "content-state": {"s": state}}}


async def with_aioapns(simulator):
    context = ssl.create_default_context(cafile=simulator.path("ca.pem"))

    class Protocol(aioapns.connection.APNsTLSClientProtocol):
        APNS_SERVER = "localhost"
        APNS_PORT = simulator.port

    async def send(what, expected, key="key", topic=TOPIC, token=TOKEN, state="x", priority=10):
        client = aioapns.APNs(
            key=getattr(simulator, key), key_id=KEY_ID, team_id=TEAM_ID, topic=topic,
            ssl_context=context, max_connections=1)
        client.pool.protocol_class = Protocol
        result = await client.send_notification(aioapns.NotificationRequest(
            device_token=token, message=payload(state), apns_topic=topic,
            push_type=aioapns.PushType.LIVEACTIVITY, priority=priority))
        told("aioapns", what, expected, f"{result.status} {result.description or ''}".strip())
        client.pool.close()

    await send("a right push", "200")
    await send("a long token", "200", token="0123456789abcdef" * 16)
    await send("another key", "403 InvalidProviderToken", key="other")
    await send("a topic without its suffix", "400 BadTopic", topic=BUNDLE)
    await send("another's topic", "400 TopicDisallowed", topic="com.other.push-type.liveactivity")
    await send("too large", "413 PayloadTooLarge", state="x" * 4096)
    await send("priority 7", "400 BadPriority", priority=7)
    await send("an odd token", "400 BadDeviceToken", token="abc")


def with_httpx(simulator):
    context = ssl.create_default_context(cafile=simulator.path("ca.pem"))
    base = f"https://localhost:{simulator.port}"
    good = {"authorization": simulator.bearer(), "apns-push-type": "liveactivity",
            "apns-topic": TOPIC, "apns-priority": "10", "apns-expiration": "0"}

    def ask(what, expected, method="POST", path="/3/device/" + TOKEN, body=None, **changes):
        headers = {**good, **{k.replace("_", "-"): v for k, v in changes.items()}}
        headers = {k: v for k, v in headers.items() if v is not None}
        with httpx.Client(http2=True, verify=context) as client:
            content = json.dumps(payload() if body is None else body) if body != "" else ""
            answer = client.request(method, base + path, headers=headers, content=content)
        reason = answer.json().get("reason", "") if answer.content and answer.status_code >= 400 else ""
        told("httpx", what, expected, f"{answer.status_code} {reason}".strip())
        told("httpx", what + ": the version", "HTTP/2", answer.http_version)
        return answer

    answer = ask("a right push", "200")
    told("httpx", "an apns-id", 36, len(answer.headers.get("apns-id", "")))
    ask("a DER signature", "200", authorization=simulator.bearer(der=True))
    ask("an old provider token", "403 ExpiredProviderToken", authorization=simulator.bearer(age=7200))
    ask("no provider token", "403 MissingProviderToken", authorization=None)
    ask("a wrong apns-id", "400 BadMessageId", apns_id="7")
    ask("a background push at 10", "400 BadPriority", apns_push_type="background", apns_topic=BUNDLE,
        body={"aps": {"content-available": 1}})
    ask("a background push at 5", "200", apns_push_type="background", apns_topic=BUNDLE,
        apns_priority="5", body={"aps": {"content-available": 1}})
    ask("a widgets push", "200", apns_push_type="widgets", apns_topic=BUNDLE + ".push-type.widgets",
        body={"aps": {"content-changed": True}})
    ask("a controls push", "200", apns_push_type="controls",
        apns_topic=BUNDLE + ".push-type.controls", body={"aps": {"content-changed": True}})
    ask("no topic", "400 MissingTopic", apns_topic=None)
    ask("a collapse id of 65 bytes", "400 BadCollapseId", apns_collapse_id="x" * 65)
    channels = f"/1/apps/{BUNDLE}/channels"
    made = ask("a channel", "201", path=channels,
               body={"message-storage-policy": 1, "push-type": "LiveActivity"})
    channel = made.headers["apns-channel-id"]
    ask("all channels", "200", "GET", f"/1/apps/{BUNDLE}/all-channels", body="")
    send = f"/4/broadcasts/apps/{BUNDLE}"
    ask("a broadcast", "200", path=send, apns_channel_id=channel, apns_topic=None)
    ask("a broadcast to nowhere", "400 ChannelNotRegistered", path=send, apns_channel_id="bm9uZQ==",
        apns_topic=None)
    ask("a deletion", "204", "DELETE", channels, body="", apns_channel_id=channel)


def with_programs(simulator):
    body = write(simulator.path("body.json"), payload())
    bearer = simulator.bearer()
    headers = [f"authorization: {bearer}", "apns-push-type: liveactivity", f"apns-topic: {TOPIC}",
               "apns-priority: 10"]

    def curl(what, expected, *arguments, path="/3/device/" + TOKEN):
        command = ["curl", "-s", "--http2", "--cacert", simulator.path("ca.pem"), "-w",
                   " %{http_version} %{http_code}", simulator.url + path]
        for header in headers:
            command += ["-H", header]
        out = subprocess.run(command + list(arguments), capture_output=True, text=True).stdout
        text, version, status = out.rsplit(" ", 2)
        reason = json.loads(text)["reason"] if text else ""
        told("curl", what, expected, f"{status} {reason}".strip())
        told("curl", what + ": the version", "2", version)

    curl("a right push", "200", "--data-binary", "@" + body)
    curl("GET", "405 MethodNotAllowed")
    curl("another path", "404 BadPath", "--data-binary", "@" + body, path="/3/devices/" + TOKEN)
    curl("no token", "400 MissingDeviceToken", "--data-binary", "@" + body, path="/3/device/")
    curl("an empty body", "400 PayloadEmpty", "-X", "POST", "-H", "content-length: 0")
    curl("a topic twice", "400 DuplicateHeaders", "--data-binary", "@" + body, "-H",
         f"apns-topic: {TOPIC}")

    def nghttp(what, expected, *arguments):
        command = ["nghttp", "-v", "-d", body, simulator.url + "/3/device/" + TOKEN]
        for header in headers:
            command += ["-H", header]
        out = subprocess.run(command + list(arguments), capture_output=True, text=True)
        status = [line.split()[-1] for line in out.stdout.splitlines() if ":status:" in line]
        told("nghttp", what, expected, status[0] if status else out.stdout + out.stderr)

    nghttp("a right push", "200")
    nghttp("a priority of 3", "400", "-H", "apns-priority: 3")


simulator = Simulator()
asyncio.run(with_aioapns(simulator))
with_httpx(simulator)
with_programs(simulator)
finish(checks=len(CHECKS))
