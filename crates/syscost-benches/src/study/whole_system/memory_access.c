//! Access to memory by how much of it is used, as the whole-system experiment timed it.
//!
//! ## Measures
//! A loop that follows a chain of pointers through `size` bytes, in an order shuffled by the Fisher-Yates
//! algorithm, between CPUID and RDTSC before and RDTSCP and CPUID after, per access; the mean of 10 such
//! trials, each of which continues where the one before ended. A trial has 1 000 000 accesses up to 32 KiB,
//! as published, and 20 000 beyond, unless the study is run with `--thorough`; up to 64 MiB these come
//! after a round of the chain that is not timed. The program is compiled without optimisation, as the
//! text's was: its counter and the pointer itself are in memory. How long the elements are is not
//! published: here each takes a line of 64 bytes; nor is whether pages were huge: here they are those of an
//! ordinary allocation.
//! ## Does not measure
//! The load alone: the pointer just loaded is stored to the stack and loaded from there before it is
//! followed. The detail `over_stack_ns` is an access of the shortest trial, `in_register_ns` one of the
//! shortest where the same chain is followed with the pointer in a register, `spill_percent` their
//! difference in percent of the first: less than 0 where the way over the stack was the shorter one. Main
//! memory, where a cache holds all of it: `last_caches_count` is `size` in units of the last cache's,
//! `last_cache_mib_count`. In less than one round (`rounds_count`) each line is still where shuffling left
//! it, in a cache or not.
//! ## Interpretation
//! Compare with `memory.latency` in small pages and random order, whose sizes are a little different.
//! ## Source
//! The whole-system experiment, memory (docs/studies/whole-system.md).
#include "trials.h"

#define LINE 64
#define LONG_ROUND (1 << 20) /* lines; the million accesses of a published trial go round up to about here */

struct line {
    struct line *next;
    char rest[LINE - sizeof(struct line *)];
};

/* Marsaglia's xorshift: a random number below `most`. */
static size_t random_below(size_t most)
{
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % most;
}

/* Shuffles lines that each lead to themselves by Fisher-Yates, never leaving one in its place (Sattolo):
 * whatever the numbers, one round leads through all of them. */
static struct line *shuffled(size_t lines)
{
    struct line *chain = aligned_alloc(LINE, lines * LINE);
    size_t i;
    if (!chain)
        failed("allocate the memory");
    for (i = 0; i < lines; i++)
        chain[i].next = &chain[i];
    for (i = lines - 1; i > 0; i--) {
        struct line *other = &chain[random_below(i)], *next = chain[i].next;
        chain[i].next = other->next;
        other->next = next;
    }
    return chain;
}

/* The number of lines in a round of the chain; stops after `most`. */
static size_t lines_of_a_round(const struct line *first, size_t most)
{
    const struct line *place = first;
    size_t lines = 0;
    do {
        place = place->next;
        lines++;
    } while (place != first && lines < most);
    return lines;
}

int main(int argc, char **argv)
{
    int accesses = argc > 1 ? atoi(argv[1]) : MANY;
    size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : 1 << 14, lines = bytes / LINE;
    struct line *place = shuffled(lines);
    register struct line *kept;
    double over_stack, in_register, ahead = 0;

    /* Ten million accesses reach all lines again and again, but a few of them only what the shuffling has
     * just left in a cache. */
    if (accesses < MANY && lines <= LONG_ROUND)
        for (; ahead < lines; ahead++)
            place = place->next;
    begin();
    TEN_TRIALS_OF(accesses, place = place->next);
    end();

    say_mean(TRIALS, "ticks");
    over_stack = shortest();
    kept = place; /* on from there: what was just passed may be in a cache */
    TEN_TRIALS_OF(accesses, kept = kept->next);
    in_register = shortest();
    fact("over_stack", over_stack, "ticks");
    fact("in_register", in_register, "ticks");
    fact("spill", 100 * (over_stack - in_register) / over_stack, "%");
    fact("rounds", (ahead + (double)TRIALS * accesses) / lines, "count");
    say_last_caches(bytes);
    if (lines <= 1 << 16)
        claim("lines of one round of the chain", lines, lines_of_a_round(kept, lines + 1));
    return 0;
}
