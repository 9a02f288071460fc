#pragma once
// What Glibc's module hides from Swift, or cannot import. Nothing here may ask for _GNU_SOURCE: types such
// as fd_set would then differ from those of Swift's Glibc module. What needs it lives in CLinux.c.
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include "CRC32C.h"
#include "CrashNote.h"

/// Begins to fetch the line of memory at `place`, to be written soon. Any address will do, also none.
static inline void tombolo_prefetch(const void *place) { __builtin_prefetch(place, 1, 3); }

/// Tell the thread sanitizer, where there is one, that the lock at `lock` was taken and will be given
/// back: it knows those of POSIX, and not Swift's `Mutex`, which asks the kernel by itself.
void tombolo_lock_taken(void *lock);
void tombolo_lock_given(void *lock);

/// Waits for readiness at most `nanoseconds` (below 0: for ever) and never returns early for the timer.
/// epoll_pwait2 (Linux 5.11) where the kernel has it; else whole milliseconds, rounded up.
int tombolo_epoll_wait(int epoll, struct epoll_event *events, int capacity, int64_t nanoseconds);

/// From now on each arrival of `signal_number` writes its number as one byte to `descriptor`.
/// One descriptor for each signal in the process; the last call wins. Answers 0, or errno.
int tombolo_signal_watch(int signal_number, int descriptor);

/// Puts the default action back, if `descriptor` is the one that is written to.
void tombolo_signal_unwatch(int signal_number, int descriptor);

/// SIGPIPE and SIGXFSZ become EPIPE and EFBIG of the call.
void tombolo_ignore_write_signals(void);

/// accept4 with a non-blocking, close-on-exec descriptor.
int tombolo_accept(int listener, struct sockaddr *address, socklen_t *length);

/// pipe2 with non-blocking, close-on-exec ends.
int tombolo_pipe(int ends[2]);

/// A non-blocking, close-on-exec stream socket.
int tombolo_stream_socket(int family);

int tombolo_set_option(int socket, int level, int name, int value);

/// TCP_NODELAY: what one turn gathered goes out at its end.
int tombolo_set_no_delay(int socket);

/// The error that a non-blocking connect ended with; 0 when it succeeded.
int tombolo_socket_error(int socket);

/// Gives memory that was freed back to the system (malloc_trim of glibc).
void tombolo_release_free_memory(void);

/// From now on no core dump has this process's memory, and only root may trace it (prctl(2),
/// PR_SET_DUMPABLE).
void tombolo_keep_memory_out_of_dumps(void);

/// At most 15 bytes of `name`.
void tombolo_name_thread(const char *name);
