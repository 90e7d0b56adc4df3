/* Functions that do not do what they say, and one that does. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <syscost.h>

static uint64_t calls;

static uint64_t work(void *unused) {
    (void)unused;
    uint64_t product = 1;
    for (uint64_t i = 0; i < 1000; i++)
        product = product * 6364136223846793005u + i;
    return product;
}

static uint64_t cached(void *unused) {
    static volatile uint64_t result;
    if (!result)
        result = work(unused);
    return result;
}

static uint64_t returns_early(void *unused) {
    return ++calls > 100 ? calls : work(unused);
}

static uint64_t sleeps(void *unused) {
    usleep(10);
    return work(unused);
}

static uint64_t allocates(void *unused) {
    char *volatile block = malloc(100);
    free(block);
    return work(unused);
}

static uint64_t aligns(void *unused) {
    void *volatile block = aligned_alloc(64, 128);
    free(block);
    return work(unused);
}

static uint64_t calls_the_kernel(void *unused) {
    return work(unused) + getppid();
}

static uint64_t fails(void *unused) {
    if (++calls == 10)
        syscost_fail("no luck");
    return work(unused);
}

static uint64_t crashes(void *unused) {
    (void)unused;
    abort();
}

static void *nothing(void) {
    return NULL;
}

static void *fails_to_begin(void) {
    syscost_fail("no data");
    return NULL;
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        uint64_t (*op)(void *);
        void *(*setup)(void);
    } all[] = {
        {"lie.honest", work, NULL},
        {"lie.cached", cached, NULL},
        {"lie.returns_early", returns_early, NULL},
        {"lie.sleeps", sleeps, NULL},
        {"lie.allocates", allocates, NULL},
        {"lie.aligns", aligns, NULL},
        {"lie.calls_the_kernel", calls_the_kernel, NULL},
        {"lie.fails", fails, NULL},
        {"lie.crashes", crashes, NULL},
        {"lie.has_nothing", work, nothing},
        {"lie.cannot_begin", work, fails_to_begin},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct syscost_function *f = syscost_op(all[i].name, all[i].setup, all[i].op, NULL);
        syscost_expect(f, "allocations", 0, 0);
        /* A product a cycle and more cannot be had: each waits for the one before. */
        syscost_expect(f, "core cycles", 1000, 0);
        if (count > 1 && !strcmp(arguments[1], "unicorns"))
            syscost_expect(f, "unicorns", 1, 1);
    }
    return syscost_main();
}
