/* A table is written number by number, with a system call for each. */
#include <fcntl.h>
#include <unistd.h>

#include "../suite.h"

static NOINLINE void put_number(int file, uint32_t number)
{
    if (write(file, &number, sizeof number) != (ssize_t)sizeof number) /* FAULT: four bytes a call */
        abort();
}

int main(int argc, char **argv)
{
    int file = open(argc > 1 ? argv[1] : "table", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    uint64_t state = 99;
    uint32_t sum = 0;
    if (file < 0)
        return 1;
    for (int i = 0; i < 1200000; i++) {
        uint32_t number = (uint32_t)next_random(&state);
        sum += number;
        put_number(file, number);
    }
    close(file);
    printf("%u\n", sum);
    return 0;
}
