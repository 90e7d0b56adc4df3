/* A byte through a pipe, by which one task wakes another. To be included after result.h. */
#include <unistd.h>

MAYBE_UNUSED static void give(int pipe)
{
    if (write(pipe, ".", 1) != 1)
        failed("write a byte");
}

MAYBE_UNUSED static void take(int pipe)
{
    char byte;
    if (read(pipe, &byte, 1) != 1)
        failed("read a byte");
}
