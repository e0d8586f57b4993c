/* Each step needs the one before: there is nothing here that a second thread could do. */
#include "../suite.h"

static NOINLINE double orbit(double x, long steps)
{
    for (long step = 0; step < steps; step++)
        x = 3.9 * x * (1.0 - x);
    return x;
}

static NOINLINE uint64_t key_of(uint64_t key, long steps)
{
    for (long step = 0; step < steps; step++)
        key = (key ^ (key >> 29)) * 0xbf58476d1ce4e5b9u + 1;
    return key;
}

int main(void)
{
    double x = 0.37;
    uint64_t key = 42;
    for (int round = 0; round < 320; round++) {
        x = orbit(0.1 + 0.8 * x, 700000);
        key = key_of(key + (uint64_t)(x * 1000), 1200000);
    }
    printf("%.6f %llu\n", x, (unsigned long long)key);
    return 0;
}
