//! Reading and writing memory by two threads, as the whole-system experiment timed it.
//!
//! ## Measures
//! Two threads, each of which goes once through a separate array, word by word: bytes per second of both
//! together, between CPUID and RDTSC before and RDTSCP and CPUID after; the mean of 2 such trials, or of the
//! published 10 where the study is run with `--thorough`. `op=read` adds the words up, `op=write` stores a
//! constant. The program is compiled without optimisation, as the text's was: the counter and the sum are in
//! memory, so that each word waits for the sum before it. Published are 1 GB and no loop: that it is of both
//! threads together, that each has a separate array, and that words read are added up, is our interpretation.
//! `cpus=one`: the program is pinned to one CPU, as the text says; `cpus=all`: it is not.
//! ## Does not measure
//! What the memory delivers: the loop, not the memory, is the limit where every word costs several
//! instructions. The detail `stack_percent` is how much less time the same takes with the counter and the
//! sum in registers, both by the fastest of as many trials (less than 0 if it takes more).
//! `on_one_cpu_percent` shows how often both threads were on one CPU, where they only take turns;
//! `last_caches_count` is the gigabyte in units of the last cache's size, `last_cache_mib_count`.
//! ## Interpretation
//! Compare with `memory.bandwidth`, whose loops are unrolled and read as much per instruction as
//! the processor can.
//! ## Source
//! The whole-system experiment, memory (docs/studies/whole-system.md).

#include "trials.h"

#include <pthread.h>

#define VALUE 0x0101010101010101 /* of every word that is read: odd, so that no other number of them has this sum */
#define PAGE (4096 / sizeof(uint64_t)) /* in words */

/* What one thread goes through. */
struct half {
    uint64_t *words;
    size_t length;
    int sums, cpu; /* sums of all words that are right */
};

static uint64_t stored;

static void *reads(void *given)
{
    struct half *half = given;
    uint64_t sum = 0;
    size_t i;
    for (i = 0; i < half->length; i++)
        sum += half->words[i];
    half->sums += sum == VALUE * half->length;
    half->cpu = sched_getcpu();
    return NULL;
}

static void *writes(void *given)
{
    struct half *half = given;
    size_t i;
    for (i = 0; i < half->length; i++)
        half->words[i] = stored;
    half->cpu = sched_getcpu();
    return NULL;
}

static void *reads_in_registers(void *given)
{
    struct half *half = given;
    register const uint64_t *word = half->words, *end = word + half->length;
    register uint64_t sum = 0;
    for (; word < end; word++)
        sum += *word;
    half->sums += sum == VALUE * half->length;
    return NULL;
}

static void *writes_in_registers(void *given)
{
    struct half *half = given;
    register uint64_t *word = half->words, *end = word + half->length, value = stored;
    for (; word < end; word++)
        *word = value;
    return NULL;
}

/* A trial: both halves by a thread each, in ticks. */
static double both(void *(*work)(void *), struct half halves[2])
{
    pthread_t threads[2];
    uint64_t begun = start();
    int i;
    for (i = 0; i < 2; i++) {
        errno = pthread_create(&threads[i], NULL, work, &halves[i]);
        if (errno)
            failed("start a thread");
    }
    for (i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return stop() - begun;
}

/* The highest result of the last trials. */
static double fastest(int count)
{
    double most = trials[0];
    int trial;
    for (trial = 1; trial < count; trial++)
        most = fmax(most, trials[trial]);
    return most;
}

int main(int argc, char **argv)
{
    int is_read = argc < 2 || !strcmp(argv[1], "read"), count = argc > 2 ? atoi(argv[2]) : TRIALS, trial, i;
    double bytes = argc > 3 ? atof(argv[3]) : 1e9, on_one_cpu = 0, kept = 0, over_stack;
    struct half halves[2];
    size_t word, length = bytes / 2 / sizeof(uint64_t);

    if (count < 2 || count > TRIALS)
        unsupported("2 to 10 trials");
    for (i = 0; i < 2; i++) {
        halves[i] = (struct half){malloc(length * sizeof(uint64_t)), length, 0, 0};
        if (!halves[i].words)
            failed("allocate the memory");
        memset(halves[i].words, VALUE & 0xff, length * sizeof(uint64_t)); /* so that every page is present */
    }
    begin();
    for (trial = 0; trial < count; trial++) {
        stored = VALUE + trial;
        trials[trial] = bytes / both(is_read ? reads : writes, halves);
        on_one_cpu += halves[0].cpu == halves[1].cpu;
    }
    end();

    say_mean(count, "B/tick");
    over_stack = fastest(count);
    for (trial = 0; trial < count; trial++) {
        stored = VALUE - trial;
        trials[trial] = bytes / both(is_read ? reads_in_registers : writes_in_registers, halves);
    }
    fact("stack", 100 * (1 - over_stack / fastest(count)), "%");
    fact("on_one_cpu", 100 * on_one_cpu / count, "%");
    say_last_caches(bytes);
    if (is_read) {
        claim("sums of all words", 4 * count, halves[0].sums + halves[1].sums);
        return 0;
    }
    for (i = 0; i < 2; i++)
        for (word = 0; word < length; word += PAGE)
            kept += halves[i].words[word] == stored;
    claim("pages that hold what was stored last", 2 * ((length + PAGE - 1) / PAGE), kept);
    return 0;
}
