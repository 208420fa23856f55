/*
 * Moves the clock of a program, and leaves the one alone that only goes on. The file that CLOCK_OFFSET names holds the seconds that the clock is
 * ahead, as 8 bytes of this machine's order. Loaded with LD_PRELOAD.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static volatile const int64_t *offset;

static void open_offset(void)
{
    const char *path = getenv("CLOCK_OFFSET");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        offset = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int outcome = (int)syscall(SYS_clock_gettime, clock, time);
    if (outcome == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        pthread_once(&once, open_offset);
        if (offset)
            time->tv_sec += *offset;
    }
    return outcome;
}
