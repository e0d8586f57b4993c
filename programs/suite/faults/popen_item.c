/* For each entry of a list a shell and a program are started to add two numbers. */
#include "../suite.h"

static NOINLINE long add_by_shell(long sum, int number)
{
    char line[64];
    snprintf(line, sizeof line, "expr %ld + %d", sum % 100000, number);
    FILE *answer = popen(line, "r"); /* FAULT: processes for an addition */
    if (answer == NULL || fscanf(answer, "%ld", &sum) != 1)
        abort();
    pclose(answer);
    return sum;
}

static NOINLINE double check(long sum) { return refine((double)sum, 100000); }

int main(void)
{
    long sum = 1;
    double checked = 0;
    for (int number = 0; number < 500; number++) {
        sum = add_by_shell(sum, number * 31 % 97);
        checked += check(sum);
    }
    printf("%ld %.6f\n", sum, checked);
    return 0;
}
