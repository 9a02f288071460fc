#define _GNU_SOURCE
#include "CrashNote.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const int traps[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
enum { trap_count = sizeof traps / sizeof traps[0], stack_bytes = 65536 };

static struct tombolo_crash_page *watched;
static struct sigaction before[trap_count];

static void note_trap(int signal_number, siginfo_t *info, void *context) {
    (void)context;
    struct tombolo_crash_page *page = watched;
    // What another process sends, as a watchdog does, says nothing about what is worked on.
    int was_sent = info->si_code <= 0;
    int is_own = !was_sent || info->si_pid == getpid();
    if (page && page->signal == 0 && is_own) {
        page->trapped_over = *(volatile int64_t *)&page->working;
        page->signal = signal_number;
    }
    // The instruction is tried again, or abort goes on: whoever was there before sees it.
    for (int index = 0; index < trap_count; index++)
        sigaction(traps[index], &before[index], NULL);
    // No instruction brings a signal again that was sent: it waits until this handler returns. Another process's
    // ends this one at once: Swift's own handler would write where it was, and return.
    if (was_sent && !is_own) signal(signal_number, SIG_DFL);
    if (was_sent) raise(signal_number);
}

struct tombolo_crash_page *tombolo_crash_page_open(const char *path) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return NULL;
    void *page = MAP_FAILED;
    if (posix_fallocate(file, 0, sizeof(struct tombolo_crash_page)) == 0)
        page = mmap(NULL, sizeof(struct tombolo_crash_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return page == MAP_FAILED ? NULL : page;
}

void tombolo_crash_page_watch(struct tombolo_crash_page *page) {
    watched = page;
    // A stack that has no room left needs another one to say so.
    stack_t stack = {.ss_sp = malloc(stack_bytes), .ss_size = stack_bytes};
    if (stack.ss_sp) sigaltstack(&stack, NULL);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = note_trap;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    for (int index = 0; index < trap_count; index++)
        sigaction(traps[index], &action, &before[index]);
}
