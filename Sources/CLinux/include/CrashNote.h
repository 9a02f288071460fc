#pragma once
#include <stdint.h>

/// What a process that trapped was about, in a page of a file that outlives it.
///
/// A handler of SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE and SIGABRT writes the signal and the word `working` into
/// the page; then the process ends as it would have ended. SIGKILL, a signal of another process and a loss of power
/// leave no trace here: they say nothing about what was worked on.
enum { TOMBOLO_CRASH_SUBJECTS = 128 };

/// Something that processes have trapped over, and how many.
struct tombolo_crash_count {
    int64_t subject;
    int64_t count;
};

struct tombolo_crash_page {
    /// Of the program that wrote it: another one begins again.
    uint64_t program;
    /// What is worked on now; 0: nothing in particular.
    int64_t working;
    /// Of the last process that trapped; 0: none since somebody looked.
    int64_t signal;
    int64_t trapped_over;
    struct tombolo_crash_count counts[TOMBOLO_CRASH_SUBJECTS];
};

/// Maps the page of the file at `path`, which is made where it is missing; NULL and errno where that fails.
struct tombolo_crash_page *_Nullable tombolo_crash_page_open(const char *_Nonnull path);

/// The place of `working`.
static inline int64_t *_Nonnull tombolo_crash_page_working(struct tombolo_crash_page *_Nonnull page) {
    return &page->working;
}

/// The first of its TOMBOLO_CRASH_SUBJECTS counts.
static inline struct tombolo_crash_count *_Nonnull tombolo_crash_page_counts(
    struct tombolo_crash_page *_Nonnull page) {
    return page->counts;
}

/// From now on traps of this process are written into `page`, where there is one. Once in a process; the page stays
/// mapped. Another process's SIGABRT ends this one.
void tombolo_crash_page_watch(struct tombolo_crash_page *_Nullable page);
