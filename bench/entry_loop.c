/* The least a program can do to create, look at, open and remove files: the yardstick for what a benchmark adds to each
 * operation on an entry.
 *
 * usage: entry_loop DIR paths|at COUNT
 *
 * Makes COUNT empty files in DIR/test-dir.0-0/mdtest_tree.0.0, called as mdtest calls them, then reads the attributes of each,
 * opens and closes each, and removes each, with no clock and no statistics in the loops. `paths` names them by their whole
 * paths, as mdtest does; `at` relative to their directory, opened once. Digits are counted up in place. Prints one line for
 * each of the four: "user_seconds system_seconds elapsed_seconds". */
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
    fprintf(stderr, "entry_loop: %s: %s\n", what, strerror(errno));
    return 1;
}

/* Adds one to the decimal number that ends a name. */
static void count_up(char *name, size_t start)
{
    size_t end = strlen(name);
    size_t place = end;
    while (place > start && name[place - 1] == '9')
        name[--place] = '0';
    if (place > start) {
        name[place - 1]++;
        return;
    }
    memmove(name + start + 1, name + start, end - start + 1);
    name[start] = '1';
}

static int create(int base, const char *name)
{
    int file = openat(base, name, O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0600);
    return file < 0 || close(file) < 0;
}

static int look(int base, const char *name)
{
    struct stat stat;
    return fstatat(base, name, &stat, AT_SYMLINK_NOFOLLOW) < 0;
}

static int open_close(int base, const char *name)
{
    int file = openat(base, name, O_RDONLY | O_CLOEXEC);
    return file < 0 || close(file) < 0;
}

static int take_away(int base, const char *name) { return unlinkat(base, name, 0) < 0; }

int main(int count_of_arguments, char **arguments)
{
    if (count_of_arguments != 4) {
        fprintf(stderr, "usage: entry_loop DIR paths|at COUNT\n");
        return 2;
    }
    int relative = strcmp(arguments[2], "at") == 0;
    uint64_t count = strtoull(arguments[3], NULL, 10);
    char top[4096], directory[4200], name[4400];
    snprintf(top, sizeof top, "%s/test-dir.0-0", arguments[1]);
    snprintf(directory, sizeof directory, "%s/mdtest_tree.0.0", top);
    if (mkdir(top, 0700) < 0 || mkdir(directory, 0700) < 0)
        return fail(directory);
    int base = relative ? open(directory, O_RDONLY | O_DIRECTORY) : AT_FDCWD;
    int (*phases[])(int, const char *) = {create, look, open_close, take_away};
    for (int phase = 0; phase < 4; phase++) {
        snprintf(name, sizeof name, "%s%sfile.mdtest.0.0", relative ? "" : directory, relative ? "" : "/");
        size_t digits = strlen(name) - 1;
        int (*step)(int, const char *) = phases[phase];
        struct rusage before, after;
        double started = monotonic();
        getrusage(RUSAGE_SELF, &before);
        for (uint64_t done = 0; done < count; done++) {
            if (step(base, name))
                return fail(name);
            count_up(name, digits);
        }
        getrusage(RUSAGE_SELF, &after);
        printf("%.6f %.6f %.6f\n", seconds(after.ru_utime) - seconds(before.ru_utime),
               seconds(after.ru_stime) - seconds(before.ru_stime), monotonic() - started);
    }
    rmdir(directory);
    rmdir(top);
    return 0;
}
