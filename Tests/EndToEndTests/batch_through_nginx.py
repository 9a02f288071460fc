#!/usr/bin/env python3
"""A large batch through nginx as people set it up, and what a batch's answer waits for.

Usage: batch_through_nginx.py PROGRAM

nginx, with its default buffers, passes what comes to the relay. curl sends 6 MB of lines through
it, three times: each line has its answer, in order. Then without nginx: the answer waits for the
end of the body, or with `Prefer: lines` comes while it is sent; and a body that breaks off ends
with a line that says so. The last line on stdout is the summary, as JSON; the exit status is 0
where all went as expected.
"""
import http.client
import json
import select
import socket
import subprocess

from world import Nginx, World, equal, expect, finish

LINES, CARDS, TEXT, ROUNDS = 2_600, 50, "n" * 2_200, 3


def batch(name, count):
    """Lines, and the answers that they should have: id and `ok`."""
    lines, answers = [], []
    for number in range(count):
        line = {"id": f"{name}-{number}", "activity": f"{name}-card-{number % CARDS}"}
        state = {"n": number, "text": TEXT}
        start = {"do": "start", "type": "Any", "state": state}
        lines.append(line | (start if number < CARDS else {"do": "update", "state": state}))
        answers.append((line["id"], True))
    return [json.dumps(line).encode() + b"\n" for line in lines], answers


def read(lines):
    """The answers that are whole, and what else there is."""
    answers = []
    for line in lines:
        try:
            answer = json.loads(line)
            answers.append((answer.get("id"), answer["ok"]))
        except (ValueError, KeyError):
            answers.append(line)
    return answers


def through_nginx(world, nginx, number):
    lines, expected = batch(f"nginx{number}", LINES)
    with open(world.path("in.ndjson"), "wb") as file:
        file.writelines(lines)
    curl = subprocess.run(
        ["curl", "-sS", "--max-time", "60", "-w", "%{stderr}%{http_code}", "--data-binary",
         "@" + world.path("in.ndjson"), "-H", "Content-Type: application/x-ndjson",
         "-H", f"Authorization: Bearer {world.key}", f"http://127.0.0.1:{nginx.port}/v1/events"],
        capture_output=True)
    what = f"round {number} through nginx"
    equal(f"{what}: curl's exit status", 0, curl.returncode)
    equal(f"{what}: status", "200", curl.stderr.decode()[-3:])
    answers = read(curl.stdout.splitlines())
    equal(f"{what}: answers", LINES, len(answers))
    equal(f"{what}: each line is answered, in order", True, expected == answers)


def begin(world, length, fields, chunks=False):
    """A connection whose request has its head, and no body yet."""
    connection = http.client.HTTPConnection("127.0.0.1", world.port, timeout=10)
    connection.putrequest("POST", "/v1/events")
    own = {"Content-Type": "application/x-ndjson", "Authorization": f"Bearer {world.key}"}
    own |= {"Transfer-Encoding": "chunked"} if chunks else {"Content-Length": str(length)}
    for name, value in (own | fields).items():
        connection.putheader(name, value)
    connection.endheaders()
    return connection


def by_halves(world, name, fields):
    """With `Prefer: lines` the first half's answers are read before the second half is sent."""
    lines, expected = batch(name, 200)
    connection = begin(world, len(b"".join(lines)), fields)
    sending, answers = connection.sock, []
    try:
        sending.sendall(b"".join(lines[:100]))
        if fields:
            response = connection.getresponse()
            answers = read(response.readline() for _ in range(100))
            equal(f"{name}: answers of the first half", expected[:100], answers)
        else:
            early = select.select([sending], [], [], 0.3)[0]
            equal(f"{name}: an answer before the body has ended", [], early)
        sending.sendall(b"".join(lines[100:]))
        response = response if fields else connection.getresponse()
        equal(f"{name}: status", 200, response.status)
        equal(f"{name}: all answers", expected, answers + read(response))
    except (OSError, http.client.HTTPException) as error:
        expect(False, f"{name}: {error!r}")
    connection.close()


def broken_off(world, name, fields, chunks=False):
    """The body ends in the middle of its sixth line, or is no chunk there."""
    lines, expected = batch(name, 10)
    body = b"".join(lines)
    connection = begin(world, len(body), fields, chunks)
    try:
        if chunks:
            whole = b"".join(lines[:5])
            connection.send(b"%x\r\n%s\r\nzz\r\n" % (len(whole), whole))
        else:
            connection.send(b"".join(lines[:5]) + lines[5][:1_000])
            connection.sock.shutdown(socket.SHUT_WR)
        answers = read(connection.getresponse())
        equal(f"{name}: answers of its lines", expected[:5], answers[:5])
        equal(f"{name}: the last answer's ok", [False], [ok for _, ok in answers[5:]])
    except (OSError, ValueError, http.client.HTTPException) as error:
        expect(False, f"{name}: {error!r}")
    connection.close()


def main():
    world = World().start()
    nginx = Nginx(f"""
        listen 127.0.0.1:{{port}}; client_max_body_size 0;
        location / {{ proxy_pass {world.api}; }}""")
    for number in range(1, ROUNDS + 1):
        through_nginx(world, nginx, number)
    for name, fields in ("whole", {}), ("lines", {"Prefer": "lines"}):
        by_halves(world, name, fields)
        broken_off(world, f"{name}-broken-off", fields)
    broken_off(world, "no-chunk", {}, chunks=True)
    finish(lines=LINES * ROUNDS)


if __name__ == "__main__":
    main()
