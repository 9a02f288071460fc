// Hooks of the Swift runtime (stdlib/public/Concurrency, Executor.h), as Swift 6.3 has them.
#include "CEscapeWatch.h"
#include <stdatomic.h>

typedef struct Job Job;
#define SWIFT __attribute__((swiftcall))
typedef SWIFT void (*Original)(Job *);
typedef SWIFT void (*OriginalDelay)(unsigned long long, Job *);
typedef SWIFT void (*OriginalDeadline)(long long, long long, long long, long long, int, Job *);

extern SWIFT void (*swift_task_enqueueGlobal_hook)(Job *, Original);
extern SWIFT void (*swift_task_enqueueMainExecutor_hook)(Job *, Original);
extern SWIFT void (*swift_task_enqueueGlobalWithDelay_hook)(
    unsigned long long, Job *, OriginalDelay);
extern SWIFT void (*swift_task_enqueueGlobalWithDeadline_hook)(
    long long, long long, long long, long long, int, Job *, OriginalDeadline);

static _Thread_local int counts;
static _Atomic uint64_t escapes;

static void seen(void) {
    if (counts) atomic_fetch_add(&escapes, 1);
}

static SWIFT void global(Job *job, Original original) {
    seen();
    original(job);
}

static SWIFT void mainActor(Job *job, Original original) {
    seen();
    original(job);
}

static SWIFT void delayed(unsigned long long delay, Job *job, OriginalDelay original) {
    seen();
    original(delay, job);
}

static SWIFT void atDeadline(
    long long seconds, long long nanoseconds, long long toleranceSeconds,
    long long toleranceNanoseconds, int clock, Job *job, OriginalDeadline original) {
    seen();
    original(seconds, nanoseconds, toleranceSeconds, toleranceNanoseconds, clock, job);
}

void escape_watch_install(void) {
    swift_task_enqueueGlobal_hook = global;
    swift_task_enqueueMainExecutor_hook = mainActor;
    swift_task_enqueueGlobalWithDelay_hook = delayed;
    swift_task_enqueueGlobalWithDeadline_hook = atDeadline;
}

void escape_watch_set(int value) { counts = value; }

uint64_t escape_watch_take(void) { return atomic_exchange(&escapes, 0); }
