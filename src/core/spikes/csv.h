/* Lines of a text table, and the fields between their separators. */
#ifndef SYN_SPIKES_CSV_H
#define SYN_SPIKES_CSV_H

#include <stddef.h>
#include <stdint.h>

typedef enum syn_csv_fault {
    SYN_CSV_SOUND,
    SYN_CSV_OPEN_QUOTE,   /* a quote is opened and not closed on the line */
    SYN_CSV_AFTER_QUOTE,  /* text stands between a closing quote and the separator */
    SYN_CSV_BINARY        /* a control character, which no text has */
} syn_csv_fault;

/* What stands between two separators, without blanks around it, and without its quotes.
   A field is quoted when a double quote is the first thing in it. */
typedef struct syn_csv_field {
    const char *text;
    size_t length;
    int doubled;  /* quoted, with a quote in it, written twice */
} syn_csv_field;

/* Length of the line that begins at text[0], without its end: LF, CR LF or CR alone.
   `*next` is where the next line begins; `size` after the last. */
size_t syn_csv_line(const char *text, size_t size, size_t *next);

/* Cuts a line into fields at each `sep`; at runs of blanks and tabs when that is 0.
   Stores the first `room` of them in `field`. Returns how many there are: none in a line
   of blanks. */
size_t syn_csv_split(const char *line, size_t length, char sep, syn_csv_field *field,
                     size_t room, syn_csv_fault *fault);

/* How the lines of a table are cut: its separator, and what each byte is for that. */
typedef struct syn_csv_reader {
    char sep;
    unsigned char kind[256];
} syn_csv_reader;

syn_csv_reader syn_csv_reader_of(char sep);

/* Cuts the line that begins at text[0], as syn_csv_line() and then syn_csv_split() do.
   Most lines have neither quotes nor blanks, and are cut in one go. */
size_t syn_csv_row(const syn_csv_reader *reader, const char *text, size_t size,
                   syn_csv_field *field, size_t room, size_t *next, syn_csv_fault *fault);

/* Whether a field is a number of at most 18 digits without an exponent, as nearly all
   are; it is then stored. */
int syn_csv_decimal(const syn_csv_field *field, char dec, double *out);

/* The text of a field, with quotes that are written twice written once; `out` has room
   for its length. Returns the length of the text. */
size_t syn_csv_text(const syn_csv_field *field, char *out);

/* Goes on with the CRC-32 of gzip: that of what came before is `crc`, 0 at first. */
uint32_t syn_crc32(uint32_t crc, const unsigned char *bytes, size_t size);

#endif
