/* A library whose segments lie far apart: between them the dynamic linker leaves memory that nobody may read.
   */
int with_hole(void);
int with_hole(void) { return 7; }
