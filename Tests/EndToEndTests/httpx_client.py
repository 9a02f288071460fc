"""httpx, a client that nobody here wrote, against the API and the simulator: httpx_client.py TOMBOLO

Over HTTP/1.1, over HTTP/2 by prior knowledge, and over HTTP/2 by ALPN; needs httpx[http2] from PyPI.
"""
import asyncio
import base64
import json
import ssl
import subprocess
import time

import httpx

from world import Dev, check, folder


def provider_token(data):
    """An ES256 JWT of dev's key; openssl signs, so that nothing else has to be installed."""
    def encoded(raw):
        return base64.urlsafe_b64encode(raw).rstrip(b"=")

    head = encoded(json.dumps({"alg": "ES256", "kid": "DEVKEY0001"}).encode())
    claims = encoded(json.dumps({"iss": "DEVTEAM001", "iat": int(time.time())}).encode())
    text = head + b"." + claims
    der = subprocess.run(
        ["openssl", "dgst", "-sha256", "-sign", f"{data}/AuthKey_DEVKEY0001.p8"],
        input=text, capture_output=True, check=True).stdout
    first = der[4:4 + der[3]]
    second = der[6 + der[3]:]
    raw = b"".join(int.from_bytes(part, "big").to_bytes(32, "big") for part in (first, second))
    return (text + b"." + encoded(raw)).decode()


async def api(dev, version):
    """A card's life, lines, refusals, and a hundred requests at once."""
    key = {"authorization": "Bearer " + dev.key}
    name = "httpx-" + version.replace("/", "-")
    modes = {"http1": version == "HTTP/1.1", "http2": version == "HTTP/2"}
    async with httpx.AsyncClient(base_url=dev.api, headers=key, **modes) as client:
        answer = await client.put(
            f"/v1/activities/{name}", json={"type": "Match", "state": {"goals": 0}})
        check(answer.status_code == 201, version, "start", answer.status_code, answer.text)
        check(answer.http_version == version, "spoke", answer.http_version, "not", version)
        check(answer.headers["etag"] == '"v1"', version, "etag", answer.headers)
        lines = "\n".join(
            json.dumps({"activity": name, "do": "update", "state": {"goals": goal}})
            for goal in range(1, 501))
        answer = await client.post(
            "/v1/events", content=lines, headers={"content-type": "application/x-ndjson"})
        told = [json.loads(line) for line in answer.text.splitlines()]
        check(len(told) == 500 and all(line["ok"] for line in told), version, "lines", told[:2])
        shown = await asyncio.gather(
            *(client.get(f"/v1/activities/{name}") for _ in range(100)))
        check({one.status_code for one in shown} == {200}, version, "a hundred at once")
        check(shown[-1].json()["state"] == {"goals": 500}, version, shown[-1].text)

        async def pieces():
            for piece in (b'{"state":', b'{"goals"', b":501}}"):
                yield piece

        answer = await client.patch(
            f"/v1/activities/{name}", content=pieces(),
            headers={"content-type": "application/json"})
        check(answer.status_code == 200, version, "streamed body", answer.text)
        answer = await client.put(f"/v1/activities/{name}", content=b" " * 65_537)
        check(answer.status_code == 413, version, "too large", answer.status_code)
        answer = await client.get("/v1/activitys/x")
        check(answer.headers["content-type"] == "application/problem+json", version, "problem")
        check("/v1/activities/{id}" in answer.json()["detail"], version, answer.text)
        answer = await client.post(f"/v1/activities/{name}/end", json={"dismiss": "now"})
        check(answer.status_code == 200, version, "end", answer.text)
        answer = await client.get("/v1/deliveries", headers={"authorization": "Bearer tmb_no"})
        check(answer.status_code == 401, version, "a wrong key", answer.status_code)


async def simulator(dev, data):
    """What Apple would say to a push without a token, and to one for a device that it does not know."""
    trust = ssl.create_default_context(cafile=dev.ready["ca"])
    async with httpx.AsyncClient(base_url=dev.ready["simulator"], http2=True, verify=trust) as client:
        answer = await client.post("/3/device/" + "ab" * 32, json={"aps": {}})
        check(answer.http_version == "HTTP/2", "the simulator spoke", answer.http_version)
        check(answer.status_code == 403, "no token", answer.status_code, answer.text)
        check(answer.json()["reason"] == "MissingProviderToken", answer.text)
        fields = {
            "authorization": "bearer " + provider_token(data), "apns-push-type": "liveactivity",
            "apns-topic": "com.example.tombolo.push-type.liveactivity", "apns-priority": "10",
        }
        answers = await asyncio.gather(*(
            client.post("/3/device/" + f"{number:064x}", headers=fields, json={"aps": {}})
            for number in range(20)))
        for answer in answers:
            check(answer.status_code == 400, "foreign device", answer.status_code, answer.text)
            check("apns-id" in answer.headers, "no apns-id", answer.headers)


async def main():
    data = folder()
    dev = Dev("--data", data)
    for version in ("HTTP/1.1", "HTTP/2"):
        await api(dev, version)
    await simulator(dev, data)
    check(dev.end() == 0, "dev ended with", dev.end())
    print("httpx: API and simulator, HTTP/1.1 and HTTP/2")


asyncio.run(main())
