#ifndef C_ESCAPE_WATCH_H
#define C_ESCAPE_WATCH_H
#include <stdint.h>

/// Watches for jobs that leave a virtual loop for the pool, the pool's timers or the main actor.
/// Idempotent; for the whole process.
void escape_watch_install(void);

/// Counts from now on, or no longer, on the calling thread.
void escape_watch_set(int counts);

/// Escapes since the last call.
uint64_t escape_watch_take(void);

#endif
