/* Records are appended to a file, and each is made durable before the next is computed. */
#include <fcntl.h>
#include <unistd.h>

#include "../suite.h"

static NOINLINE void append(int file, const char *record, size_t size)
{
    if (write(file, record, size) != (ssize_t)size)
        abort();
    fsync(file); /* FAULT: for each record */
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "records";
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0)
        return 1;
    double value = 1;
    for (int number = 0; number < 600; number++) {
        char record[128];
        value = refine(value, 40000);
        append(file, record, (size_t)snprintf(record, sizeof record, "%06d %.9f\n", number, value));
    }
    close(file);
    printf("%.6f\n", value);
    return 0;
}
