// What the program's benches are compared with: the same work, done plainly in C.
//
//   Yardsticks append FILE COUNT BATCH      COUNT rows with bodies of 300 bytes into a table without an
//                                           index, BATCH a transaction; WAL, synchronous=FULL
//   Yardsticks tls PORT CERTIFICATE KEY     a server that holds TLS connections with bare OpenSSL
//
// `append` prints one JSON object with the names that `tombolo bench append` has.
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tls.h"

enum { bodyBytes = 300 };

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int compare(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static void check(sqlite3 *database, int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "Yardsticks: %s\n", sqlite3_errmsg(database));
    exit(1);
}

static int append(const char *path, long count, long batch) {
    sqlite3 *database;
    sqlite3_stmt *insertion;
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    check(NULL, sqlite3_open_v2(path, &database,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
    check(database, sqlite3_exec(database,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE IF NOT EXISTS log(seq INTEGER PRIMARY KEY, body BLOB NOT NULL)",
        NULL, NULL, NULL));
    check(database, sqlite3_prepare_v2(
        database, "INSERT INTO log(body) VALUES(?1)", -1, &insertion, NULL));
    char body[bodyBytes];
    memset(body, 'x', sizeof body);
    double *times = calloc((size_t)(count / batch + 1), sizeof *times);
    long batches = 0;
    double processor = seconds(CLOCK_PROCESS_CPUTIME_ID), start = seconds(CLOCK_MONOTONIC);
    for (long done = 0; done < count; batches++) {
        double before = seconds(CLOCK_MONOTONIC);
        check(database, sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL));
        for (long index = 0; index < batch && done < count; index++, done++) {
            memcpy(body, &done, sizeof done);
            sqlite3_bind_blob(insertion, 1, body, sizeof body, SQLITE_STATIC);
            check(database, sqlite3_step(insertion));
            sqlite3_reset(insertion);
        }
        check(database, sqlite3_exec(database, "COMMIT", NULL, NULL, NULL));
        times[batches] = seconds(CLOCK_MONOTONIC) - before;
    }
    double taken = seconds(CLOCK_MONOTONIC) - start;
    processor = seconds(CLOCK_PROCESS_CPUTIME_ID) - processor;
    qsort(times, (size_t)batches, sizeof *times, compare);
    printf("{\"events\":%ld,\"seconds\":%.3f,\"events_per_second\":%.0f,"
           "\"cpu_us_per_event\":%.3f,\"p50_ms\":%.3f,\"p99_ms\":%.3f}\n",
        count, taken, (double)count / taken, processor * 1e6 / (double)count,
        times[batches / 2] * 1e3, times[batches * 99 / 100] * 1e3);
    free(times);
    sqlite3_finalize(insertion);
    sqlite3_close(database);
    return 0;
}

int main(int count, char **words) {
    if (count == 5 && strcmp(words[1], "append") == 0) {
        long events = atol(words[3]), batch = atol(words[4]);
        if (events > 0 && batch > 0) return append(words[2], events, batch);
    }
    if (count == 5 && strcmp(words[1], "tls") == 0) {
        return hold_tls(atoi(words[2]), words[3], words[4]);
    }
    fprintf(stderr, "usage: Yardsticks append FILE COUNT BATCH | tls PORT CERTIFICATE KEY\n");
    return 2;
}
