/*
 * Copies stdin to stdout, writes as many lines to stderr as it copied, and exits with the code given.
 * Whatever stands between it and its caller must not change a byte. Prints no truth: its streams are the
 * truth.
 * echo_streams [CODE] [WORDS for stderr …]
 */
#include "truth.h"

int main(int argc, char **argv)
{
    char buffer[4096];
    size_t length, bytes = 0, lines = 0;
    while ((length = fread(buffer, 1, sizeof buffer, stdin)) > 0) {
        bytes += length;
        for (size_t i = 0; i < length; i++)
            lines += buffer[i] == '\n';
        if (fwrite(buffer, 1, length, stdout) != length)
            return 99;
    }
    for (size_t i = 0; i < lines; i++)
        fprintf(stderr, "line %zu\n", i + 1);
    for (int i = 2; i < argc; i++)
        fprintf(stderr, "word <%s>\n", argv[i]);
    fprintf(stderr, "%zu bytes, no newline at the end", bytes);
    return argc > 1 ? atoi(argv[1]) : 0;
}
