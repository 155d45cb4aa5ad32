#ifndef GODWIT_CSTATEMENTTRACE_H
#define GODWIT_CSTATEMENTTRACE_H

/// Notes the text of every statement that SQLite runs from now on, on connections that are opened
/// from now on, on files below a folder and on databases without a file. What was noted before is
/// forgotten. Holds for the whole process; one trace at a time.
void cstatementtrace_begin(const char *folder);

/// Stops noting.
void cstatementtrace_end(void);

/// How many statements were noted.
long cstatementtrace_count(void);

/// The file of the main database and the text of a statement that was noted, by its number from
/// 0; valid until the next trace begins. Returns 0 for a number that is too high.
int cstatementtrace_statement(long number, const char **file, const char **text);

/// A copy of a statement in upper case, without what stands in single or double quotes and without
/// what marks a statement that a virtual table runs; to be freed. NULL where quotes do not end.
char *cstatementtrace_bare(const char *text);

#endif
