/* A library for plugins.c. Its twin has the same layout, so that one fits exactly where the other was. */
#include "truth.h"

static KEPT uint64_t churn_a(uint64_t x, uint64_t steps)
{
    BURN(x, steps);
    return x;
}

KEPT uint64_t plugin_a_work(uint64_t x, uint64_t steps)
{
    return churn_a(x, steps) + 1;
}
