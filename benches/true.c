/* A process that does nothing. */
int main(void) { return 0; }
