/* A table is written number by number into a buffer. */
#include "../suite.h"

static NOINLINE void put_number(FILE *file, uint32_t number)
{
    if (fwrite(&number, sizeof number, 1, file) != 1)
        abort();
}

int main(int argc, char **argv)
{
    FILE *file = fopen(argc > 1 ? argv[1] : "table", "w");
    uint64_t state = 99;
    uint32_t sum = 0;
    if (file == NULL)
        return 1;
    for (int i = 0; i < 1200000; i++) {
        uint32_t number = (uint32_t)next_random(&state);
        sum += number;
        put_number(file, number);
    }
    fclose(file);
    printf("%u\n", sum);
    return 0;
}
