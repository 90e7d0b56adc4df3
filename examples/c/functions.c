/* A program that measures its own functions: a sum of numbers that it can refuse, and one of the C library's. */
#include <stdlib.h>
#include <string.h>

#include <syscost.h>

enum { NUMBERS = 1000 };

static void *numbers(void) {
    uint64_t *numbers = malloc(NUMBERS * sizeof *numbers);
    for (int i = 0; numbers && i < NUMBERS; i++)
        numbers[i] = i;
    return numbers;
}

static uint64_t sum(void *state) {
    const uint64_t *numbers = state;
    uint64_t sum = 0;
    for (int i = 0; i < NUMBERS; i++)
        sum += numbers[i];
    if (sum != NUMBERS * (NUMBERS - 1) / 2)
        syscost_fail("the sum is wrong");
    return sum;
}

static void *text(void) {
    return strdup("the quick brown fox");
}

static uint64_t copy(void *state) {
    char *copied = strdup(state);
    uint64_t length = strlen(copied);
    free(copied);
    return length;
}

int main(void) {
    struct syscost_function *f = syscost_op("list.sum", numbers, sum, free);
    syscost_expect(f, "allocations", 0, 0);
    /* No processor adds more than eight numbers in a cycle. */
    syscost_expect(f, "core cycles", NUMBERS / 8, 0);

    f = syscost_op("text.strdup", text, copy, free);
    syscost_expect(f, "allocations", 1, 1);
    return syscost_main();
}
