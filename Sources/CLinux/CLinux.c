#define _GNU_SOURCE
#include <malloc.h>
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
void __tsan_acquire(void *lock);
void __tsan_release(void *lock);
#define TOMBOLO_SANITIZES_THREADS 1
#endif
#endif

void tombolo_lock_taken(void *lock) {
#ifdef TOMBOLO_SANITIZES_THREADS
    __tsan_acquire(lock);
#else
    (void)lock;
#endif
}

void tombolo_lock_given(void *lock) {
#ifdef TOMBOLO_SANITIZES_THREADS
    __tsan_release(lock);
#else
    (void)lock;
#endif
}

int tombolo_epoll_wait(int epoll, struct epoll_event *events, int capacity, int64_t nanoseconds) {
    static _Atomic int lacks_pwait2;
    if (nanoseconds < 0) return epoll_wait(epoll, events, capacity, -1);
    if (nanoseconds == 0) return epoll_wait(epoll, events, capacity, 0);
    if (!atomic_load_explicit(&lacks_pwait2, memory_order_relaxed)) {
        struct timespec timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
        int count = epoll_pwait2(epoll, events, capacity, &timeout, NULL);
        // ENOSYS: an older kernel. EPERM: a container whose filter does not know the call.
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
        atomic_store_explicit(&lacks_pwait2, 1, memory_order_relaxed);
    }
    int64_t milliseconds = nanoseconds / 1000000 + (nanoseconds % 1000000 != 0);
    return epoll_wait(epoll, events, capacity,
                      milliseconds > 2000000000 ? 2000000000 : (int)milliseconds);
}

enum { signals_max = 65 };
// Descriptor + 1, so that zero says "nobody watches".
static _Atomic int watchers[signals_max];

static void note_signal(int signal_number) {
    int saved = errno;
    int watcher = atomic_load(&watchers[signal_number]);
    if (watcher > 0) {
        unsigned char byte = (unsigned char)signal_number;
        // A full pipe holds enough signals already.
        ssize_t written = write(watcher - 1, &byte, 1);
        (void)written;
    }
    errno = saved;
}

int tombolo_signal_watch(int signal_number, int descriptor) {
    if (signal_number < 1 || signal_number >= signals_max) return EINVAL;
    atomic_store(&watchers[signal_number], descriptor + 1);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    return sigaction(signal_number, &action, NULL) == 0 ? 0 : errno;
}

void tombolo_signal_unwatch(int signal_number, int descriptor) {
    if (signal_number < 1 || signal_number >= signals_max) return;
    int expected = descriptor + 1;
    if (atomic_compare_exchange_strong(&watchers[signal_number], &expected, 0))
        signal(signal_number, SIG_DFL);
}

void tombolo_ignore_write_signals(void) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

int tombolo_accept(int listener, struct sockaddr *address, socklen_t *length) {
    return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int tombolo_pipe(int ends[2]) { return pipe2(ends, O_NONBLOCK | O_CLOEXEC); }

int tombolo_stream_socket(int family) {
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

int tombolo_set_option(int socket, int level, int name, int value) {
    return setsockopt(socket, level, name, &value, sizeof value);
}

int tombolo_set_no_delay(int socket) {
    return tombolo_set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

int tombolo_socket_error(int socket) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

void tombolo_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

void tombolo_keep_memory_out_of_dumps(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

void tombolo_release_free_memory(void) {
    malloc_trim(0);
}
