/* The least a program can do to read a file: the yardstick for what a benchmark adds to each I/O.
 *
 * usage: pread_loop FILE random|sequential SIZE COUNT
 *
 * Reads COUNT times SIZE bytes, one after the other or at random multiples of SIZE, with no clock and no statistics
 * in the loop. Prints "user_seconds system_seconds elapsed_seconds" of the loop alone. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

static double monotonic(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int fail(const char *what)
{
    fprintf(stderr, "pread_loop: %s: %s\n", what, strerror(errno));
    return 1;
}

int main(int count_of_arguments, char **arguments)
{
    if (count_of_arguments != 5) {
        fprintf(stderr, "usage: pread_loop FILE random|sequential SIZE COUNT\n");
        return 2;
    }
    int sequential = strcmp(arguments[2], "sequential") == 0;
    size_t size = strtoull(arguments[3], NULL, 10);
    uint64_t count = strtoull(arguments[4], NULL, 10);

    int file = open(arguments[1], O_RDONLY);
    struct stat stat;
    if (file < 0 || fstat(file, &stat) < 0)
        return fail(arguments[1]);
    uint64_t positions = size ? stat.st_size / size : 0;
    void *buffer = NULL;
    if (positions == 0 || posix_memalign(&buffer, 4096, size) != 0)
        return fail("size or memory");
    memset(buffer, 1, size);

    uint64_t state = 0x2545F4914F6CDD1D;
    struct rusage before, after;
    double started = monotonic();
    getrusage(RUSAGE_SELF, &before);
    for (uint64_t done = 0, next = 0; done < count; done++) {
        uint64_t position;
        if (sequential) {
            position = next;
            next = next + 1 == positions ? 0 : next + 1;
        } else {
            /* xorshift64 (Marsaglia 2003), then a multiplication instead of a division to get into the range */
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            position = (uint64_t)(((unsigned __int128)state * positions) >> 64);
        }
        if (pread(file, buffer, size, position * size) != (ssize_t)size)
            return fail("pread");
    }
    getrusage(RUSAGE_SELF, &after);
    printf("%.6f %.6f %.6f\n", seconds(after.ru_utime) - seconds(before.ru_utime),
           seconds(after.ru_stime) - seconds(before.ru_stime), monotonic() - started);
    return 0;
}
