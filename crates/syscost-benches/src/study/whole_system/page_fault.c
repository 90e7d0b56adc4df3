//! Page faults of a mapped file, as the whole-system experiment timed them.
//!
//! ## Measures
//! 20 pages of a mapped file that are read for the first time, in an order shuffled by the Fisher-Yates
//! algorithm, with MADV_RANDOM and after the file was dropped from the page cache (DONTNEED), between CPUID
//! and RDTSC before and RDTSCP and CPUID after, per page; the mean of 10 such trials. The program is compiled
//! without optimisation. The file's length is not published: here it has 1024 pages; a trial touched more.
//! ## Does not measure
//! The kernel's cost of a fault: the page is not in memory, so the time is mostly that of reading it
//! from the storage. The details count it: `major_faults_percent` of the pages touched,
//! `not_cached_percent` of the file's pages before, by mincore, and `pages_read_per_fault_count`
//! afterwards.
//! ## Interpretation
//! Compare with `memory.page_fault{kind=file_cold}`, which is the same under its proper name, and with
//! `file_warm_alone`, a fault without the device.
//! ## Source
//! The whole-system experiment, memory (docs/studies/whole-system.md).
#include "trials.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#define PAGES 1024
#define TOUCHED 20

static unsigned char presence[PAGES];
static int order[PAGES], next;
static long page;
static char *map;

/* A file of random pages in the working folder, written to its device; its name is gone at once. */
static int make_file(void)
{
    int i, random_bytes = open("/dev/urandom", O_RDONLY);
    char name[] = "pages-XXXXXX", bytes[page];
    int file = mkstemp(name);
    struct statfs on;

    if (random_bytes < 0 || file < 0 || unlink(name) || fstatfs(file, &on))
        failed("make a file");
    if (on.f_type == TMPFS_MAGIC || on.f_type == RAMFS_MAGIC)
        unsupported("the folder's files are in memory: there is no device to read a page from");
    for (i = 0; i < PAGES; i++)
        if (read(random_bytes, bytes, page) != page || write(file, bytes, page) != page)
            failed("fill the file");
    if (fsync(file))
        failed("write the file to its device");
    return file;
}

/* How many of the file's pages are in the page cache. */
static int cached(void)
{
    int i, count = 0;
    if (mincore(map, PAGES * page, presence))
        failed("mincore");
    for (i = 0; i < PAGES; i++)
        count += presence[i] & 1;
    return count;
}

/* Fisher-Yates: every order is equally likely. */
static void shuffle(void)
{
    int i;
    srandom(getpid());
    for (i = 0; i < PAGES; i++)
        order[i] = i;
    for (i = PAGES - 1; i > 0; i--) {
        int other = random() % (i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

int main(void)
{
    struct rusage before, after;
    int file, cached_before;
    volatile char byte;

    page = sysconf(_SC_PAGESIZE);
    file = make_file();
    map = mmap(NULL, PAGES * page, PROT_READ, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        failed("map the file");
    shuffle();
    if (madvise(map, PAGES * page, MADV_RANDOM) || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED))
        failed("advise the kernel");
    cached_before = cached();
    getrusage(RUSAGE_SELF, &before);
    begin();
    TEN_TRIALS_OF(TOUCHED, byte = map[order[next++] * page]);
    end();
    getrusage(RUSAGE_SELF, &after);

    (void)byte;
    say_mean(TRIALS, "ticks");
    fact("major_faults", 100.0 * (after.ru_majflt - before.ru_majflt) / next, "%");
    fact("not_cached", 100.0 * (PAGES - cached_before) / PAGES, "%");
    fact("pages_read_per_fault", (double)(cached() - cached_before) / next, "count");
    return 0;
}
