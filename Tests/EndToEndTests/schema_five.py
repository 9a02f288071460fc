"""A log of schema 5, as relays wrote it before schema 6: the tables that an import reads.

`write(lines, path)` makes the database at `path` of what `tombolo log export` printed. Each row has its checksum:
CRC-32C over the number of its table, and its columns.
"""
import base64
import json
import sqlite3
import struct

APPLICATION_ID = 0x544D424F
KINDS = {"start": 1, "update": 2, "end": 3, "play": 4, "stop": 5}
HEAD = """(activity INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, version INTEGER NOT NULL, seq INTEGER NOT NULL,
    crc INTEGER NOT NULL, value BLOB NOT NULL, tenant_seq INTEGER)"""
TABLES = f"""
    PRAGMA page_size = 8192; PRAGMA journal_mode = WAL;
    PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 5;
    CREATE TABLE tenant(id INTEGER PRIMARY KEY, name TEXT NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE event(seq INTEGER PRIMARY KEY, row BLOB NOT NULL);
    CREATE TABLE snapshot(seq INTEGER PRIMARY KEY, crc INTEGER NOT NULL, row BLOB NOT NULL);
    CREATE TABLE fact(
        seq INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, activity INTEGER, recorded_at INTEGER NOT NULL,
        crc INTEGER NOT NULL, kind TEXT NOT NULL, body BLOB NOT NULL, tenant_seq INTEGER);
    CREATE TABLE head{HEAD};
    CREATE TABLE record(key INTEGER PRIMARY KEY, crc INTEGER NOT NULL, value BLOB NOT NULL);
    CREATE TABLE meta(name TEXT PRIMARY KEY, crc INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE cut(name TEXT PRIMARY KEY, value INTEGER NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE tally(
        tenant INTEGER PRIMARY KEY, event INTEGER NOT NULL, fact INTEGER NOT NULL, crc INTEGER NOT NULL);
"""
LOG, FACT, HEADS, RECORD, TENANT, META, CUT, TALLY = 1, 2, 3, 4, 6, 7, 9, 13


def _remainder(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


REMAINDERS = [_remainder(byte) for byte in range(256)]


def checksum(table, *parts):
    """As a column has it: signed. A part is a number or bytes."""
    value = ~table & 0xFFFFFFFF
    for part in parts:
        for byte in part if isinstance(part, bytes) else struct.pack("<q", part):
            value = value >> 8 ^ REMAINDERS[(value ^ byte) & 255]
    return struct.unpack("<i", struct.pack("<I", ~value & 0xFFFFFFFF))[0]


def value_of(item, name):
    return item[name].encode() if name in item else base64.b64decode(item[name + "_base64"])


def event_row(item, tenant):
    seq, body, key = item["seq"], value_of(item, "body"), item.get("key", "").encode()
    flags, middle = 0, b""
    if not body:
        flags |= 2
    if "tenant_seq" in item:
        flags |= 4
        middle += struct.pack("<q", item["tenant_seq"])
    if "by" in item:
        flags |= 8
        middle += struct.pack("<q", (1 << 48) - 1 if item["by"] == "relay" else int(item["by"], 16))
    if "key" in item:
        flags |= 1
        middle += struct.pack("<Q", int(item["digest"]))
    row = struct.pack(
        "<BBHqqqqqq", KINDS[item["do"]], flags, len(key), tenant, item["activity"], item["version"],
        item["previous"], 0, item["recorded_at"]) + middle + key + body
    return struct.pack("<i", checksum(LOG, seq, row)) + row


class Writer:
    def __init__(self, path):
        self.database = sqlite3.connect(path, isolation_level=None)
        self.database.executescript(TABLES + "BEGIN")
        self.tenants = {}

    def insert(self, table, *values):
        self.database.execute(f"INSERT INTO {table} VALUES({','.join('?' * len(values))})", values)

    def tenant(self, name):
        if name not in self.tenants:
            number = self.tenants[name] = len(self.tenants) + 1
            self.insert("tenant", number, name, checksum(TENANT, number, name.encode()))
        return self.tenants[name]

    def identity(self, item):
        values = {"idempotency_hash_key": struct.pack("<QQ", *map(int, item["hash_key"]))}
        if "restored_at" in item:
            values["restored_at"] = struct.pack("<q", item["restored_at"])
        for name, value in values.items():
            self.insert("meta", name, checksum(META, name.encode(), value), value)

    def cut(self, item):
        for name, number in [("log", item["seq"]), ("fact", item["fact"]), ("activity", item["activity"])]:
            self.insert("cut", name, number, checksum(CUT, name.encode(), number))

    def lead(self, item):
        name, number = f"lead {item['event']} {item['fact']}", item["seconds"] + (1 << 40)
        self.insert("cut", name, number, checksum(CUT, name.encode(), number))

    def event(self, item):
        self.insert("event", item["seq"], event_row(item, self.tenant(item["tenant"])))

    def snapshot(self, item):
        pass  # Only makes a way shorter.

    def end(self, item):
        pass

    def fact(self, item):
        seq, tenant, activity = item["seq"], self.tenant(item["tenant"]), item.get("activity")
        kind, body, place = item["kind"].encode(), value_of(item, "body"), item.get("tenant_seq")
        crc = checksum(
            FACT, seq, tenant, activity or 0, 0 if activity is None else 1, item["recorded_at"], len(kind), kind,
            body, *([] if place is None else [place]))
        self.insert("fact", seq, tenant, activity, item["recorded_at"], crc, item["kind"], body, place)

    def head(self, item):
        table, day = "head", item.get("retired_day")
        if day is not None:
            table = f"retired_{day}"
            self.database.execute(f"CREATE TABLE IF NOT EXISTS {table}{HEAD}")
            self.database.execute(f"CREATE TABLE IF NOT EXISTS retired_name_{day}(hash, activity, crc)")
        numbers = [item["activity"], self.tenant(item["tenant"]), item["version"], item["seq"]]
        value, place = value_of(item, "value"), item.get("tenant_seq")
        crc = checksum(HEADS, *numbers, value, *([] if place is None else [place]))
        self.insert(table, *numbers, crc, value, place)

    def record(self, item):
        key, value = item["space"] << 48 | item["number"], value_of(item, "value")
        self.insert("record", key, checksum(RECORD, key, value), value)

    def tally(self, item):
        numbers = [self.tenant(item["tenant"]), item["event"], item["fact"]]
        self.insert("tally", *numbers, checksum(TALLY, *numbers))


def write(lines, path):
    writer = Writer(path)
    for line in lines.splitlines():
        for name, item in json.loads(line).items():
            getattr(writer, name)(item)
    writer.database.execute("COMMIT")
    writer.database.close()
