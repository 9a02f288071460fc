#pragma once
#include <sqlite3.h>
// What Swift cannot import: variadic functions, and codes that are expressions.

/// Once, before any connection is opened: SQLite counts no memory, which costs a lock in every allocation.
/// Answers SQLITE_MISUSE, harmlessly, where SQLite is running already.
static inline int tombolo_sqlite_leave_memory_uncounted(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/// Closing this connection does no checkpoint, even if it is the last.
static inline int tombolo_sqlite_no_checkpoint_on_close(sqlite3 *db) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

static const int TOMBOLO_SQLITE_IOERR_READ = SQLITE_IOERR_READ;
static const int TOMBOLO_SQLITE_IOERR_SHORT_READ = SQLITE_IOERR_SHORT_READ;
static const int TOMBOLO_SQLITE_IOERR_WRITE = SQLITE_IOERR_WRITE;
static const int TOMBOLO_SQLITE_IOERR_FSYNC = SQLITE_IOERR_FSYNC;
static const int TOMBOLO_SQLITE_IOERR_TRUNCATE = SQLITE_IOERR_TRUNCATE;
static const int TOMBOLO_SQLITE_IOERR_DELETE = SQLITE_IOERR_DELETE;
