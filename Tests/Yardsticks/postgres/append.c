// What an append to PostgreSQL costs a program that does nothing else: the statements of the relay's log, sent in one
// round trip, with rows of zeros.
//
//   append EVENTS BATCH BYTES HEADS HEADBYTES
//
// So many events in batches of BATCH rows of BYTES; where HEADS is not 0, each batch writes so many heads again. The tables are
// in the schema `bare` of the database that TOMBOLO_POSTGRES names. Prints events a second, and quantiles of a batch in ms.
#include <endian.h>
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static PGconn *connection;
static char *bytes;
static size_t size, room;

static void fail(const char *what) {
    fprintf(stderr, "append: %s: %s\n", what, PQerrorMessage(connection));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void put(const void *from, size_t count) {
    while (size + count > room) bytes = realloc(bytes, room = room ? room * 2 : 1 << 20);
    memcpy(bytes + size, from, count);
    size += count;
}

static void put32(uint32_t number) {
    number = htobe32(number);
    put(&number, 4);
}

static void put64(uint64_t number) {
    number = htobe64(number);
    put(&number, 8);
}

// An array of so many elements of a type.
static void begin(uint32_t type, uint32_t count) {
    uint32_t head[] = {1, 0, type, count, 1};
    for (int i = 0; i < 5; i++) put32(head[i]);
}

static void prepare(const char *name, const char *sql) {
    PGresult *result = PQprepare(connection, name, sql, 0, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(name);
    PQclear(result);
}

// Sends a statement with keys from `first` on and rows of `length` bytes.
static void sendRows(const char *name, int64_t first, int count, int length, const char *row) {
    size = 0;
    begin(20, count);
    for (int i = 0; i < count; i++) put32(8), put64(first + i);
    size_t keys = size;
    begin(17, count);
    for (int i = 0; i < count; i++) put32(length), put(row, length);
    const char *values[] = {bytes, bytes + keys};
    int lengths[] = {keys, size - keys}, formats[] = {1, 1};
    if (!PQsendQueryPrepared(connection, name, 2, values, lengths, formats, 1)) fail(name);
}

static void sendNumber(const char *name, int64_t number) {
    number = htobe64(number);
    const char *values[] = {(char *)&number};
    int lengths[] = {8}, formats[] = {1};
    if (!PQsendQueryPrepared(connection, name, 1, values, lengths, formats, 1)) fail(name);
}

static void sendNothing(const char *name) {
    if (!PQsendQueryPrepared(connection, name, 0, NULL, NULL, NULL, 1)) fail(name);
}

static int compare(const void *a, const void *b) {
    double x = *(double *)a, y = *(double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **words) {
    if (count != 6) return fprintf(stderr, "append EVENTS BATCH BYTES HEADS HEADBYTES\n"), 2;
    long events = atol(words[1]), batch = atol(words[2]), length = atol(words[3]), heads = atol(words[4]);
    long headLength = atol(words[5]);
    connection = PQconnectdb(getenv("TOMBOLO_POSTGRES"));
    if (PQstatus(connection) != CONNECTION_OK) fail("connect");
    PQclear(PQexec(connection, "SET synchronous_commit = local"));
    prepare("begin", "BEGIN");
    prepare("fence",
            "SELECT 1 / count(*) FROM (SELECT 1 FROM bare.owner o JOIN bare.batch b ON b.key = $1::int8 "
            "WHERE o.epoch = 0 AND o.holder = '' FOR KEY SHARE OF o) x");
    prepare("batch", "INSERT INTO bare.batch VALUES ($1::int8)");
    prepare("event", "INSERT INTO bare.event SELECT * FROM unnest($1::int8[], $2::bytea[])");
    prepare("head",
            "INSERT INTO bare.head SELECT * FROM unnest($1::int8[], $2::bytea[]) "
            "ON CONFLICT (key) DO UPDATE SET row = excluded.row");
    prepare("commit", "COMMIT");
    char *row = calloc(1, length + headLength + 1);
    double *times = calloc(events / batch + 1, sizeof *times);
    if (!PQenterPipelineMode(connection)) fail("pipeline");
    PGresult *result;
    double began = now();
    long done = 0;
    for (long at = 0; at < events; at += batch, done++) {
        double start = now();
        sendNothing("begin");
        sendNumber("fence", done);
        sendNumber("batch", done + 1);
        sendRows("event", at + 1, batch, length, row);
        if (heads) sendRows("head", 1, heads, headLength, row);
        sendNothing("commit");
        if (!PQpipelineSync(connection)) fail("sync");
        for (int isThrough = 0; !isThrough;) {
            if (!(result = PQgetResult(connection))) continue;
            ExecStatusType status = PQresultStatus(result);
            isThrough = status == PGRES_PIPELINE_SYNC;
            if (!isThrough && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail("append");
            PQclear(result);
        }
        times[done] = now() - start;
    }
    double seconds = now() - began;
    qsort(times, done, sizeof *times, compare);
    printf("{\"events_per_second\":%.0f,\"p50_ms\":%.3f,\"p99_ms\":%.3f}\n", events / seconds, times[done / 2] * 1e3,
           times[done * 99 / 100] * 1e3);
    return 0;
}
