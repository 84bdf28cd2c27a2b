/* Tables of spikes as text: reads the rows of a block of bytes, splits lines into
   fields, and computes the CRC-32 of bytes. */
#include "glue/require.h"

#include <R_ext/Utils.h>
#include <limits.h>
#include <string.h>

#include "core/spikes/csv.h"
#include "glue/options.h"

/* What R says of a table: the separator (0 for blanks), the decimal mark, how many fields
   a row has (0 when rows may differ), which is the time (0 when none is read as a number)
   and which are taken as text. Columns count from 1. */
typedef struct layout {
    char sep, dec;
    size_t fields, room;
    int time, texts;
    const int *text;
} layout;

/* Rows of a block of whole lines. */
typedef struct rows {
    R_xlen_t n, lines;
    double *time;
    SEXP text;  /* a list with a character vector for each column of text */
} rows;

enum { ROW_NOT_A_NUMBER = SYN_CSV_BINARY + 1, ROW_RAGGED };

static layout read_layout(SEXP options)
{
    SEXP text = numbers(glue_option(options, "text"), INTSXP, 0, "columns");
    layout out = {.sep = (char)glue_option_int(options, "sep", 0, CHAR_MAX),
                  .dec = (char)glue_option_int(options, "dec", 1, CHAR_MAX),
                  .fields = (size_t)glue_option_int(options, "fields", 0, INT_MAX),
                  .time = (int)glue_option_int(options, "time", 0, INT_MAX),
                  .texts = (int)Rf_xlength(text), .text = INTEGER(text)};
    out.room = out.time > 0 ? (size_t)out.time : 1;
    for (int k = 0; k < out.texts; k++) {
        require(out.text[k] >= 1, "columns");
        out.room = (size_t)out.text[k] > out.room ? (size_t)out.text[k] : out.room;
    }
    return out;
}

/* A number in decimal notation, NaN when it is missing. 0 when it is none. */
static int decimal(const syn_csv_field *field, char dec, char *buffer, double *out)
{
    size_t length = syn_csv_text(field, buffer);
    buffer[length] = 0;
    *out = R_NaN;
    if (length == 0 || strcmp(buffer, "NA") == 0)
        return 1;
    static const char plain[] = "0123456789+-eE";
    if (strspn(buffer, plain) < length)
        for (size_t i = 0; i < length; i++) {
            if (dec != '.' && buffer[i] == '.')
                return 0;
            if (buffer[i] == dec)
                buffer[i] = '.';
        }
    char *end;
    *out = R_strtod(buffer, &end);
    /* R also takes hexadecimal numbers, and an exponent without digits. */
    return end == buffer + length && !strpbrk(buffer, "xX") &&
           !strchr("eE+-", buffer[length - 1]);
}

static SEXP field_text(const syn_csv_field *field, char *buffer)
{
    size_t length = syn_csv_text(field, buffer);
    return Rf_mkCharLenCE(buffer, (int)length, CE_NATIVE);
}

/* Stores a row; what is wrong with it, or 0. */
static int take_row(rows *out, const layout *how, const syn_csv_field *field,
                    size_t fields, char *buffer)
{
    static const syn_csv_field none = {"", 0, 0};
    if (how->fields && fields != how->fields)
        return ROW_RAGGED;
    if (how->time &&
        !decimal(&field[how->time - 1], how->dec, buffer, &out->time[out->n]))
        return ROW_NOT_A_NUMBER;
    for (int k = 0; k < how->texts; k++) {
        size_t at = (size_t)how->text[k] - 1;
        const syn_csv_field *one = at < fields ? &field[at] : &none;
        SET_STRING_ELT(VECTOR_ELT(out->text, k), out->n, field_text(one, buffer));
    }
    return 0;
}

static R_xlen_t count_lines(const char *text, size_t size, size_t *longest)
{
    R_xlen_t lines = 0;
    *longest = 0;
    for (size_t at = 0, next; at < size; at += next, lines++) {
        size_t length = syn_csv_line(text + at, size - at, &next);
        *longest = length > *longest ? length : *longest;
    }
    return lines;
}

static SEXP csv_result(const rows *out, SEXP time, SEXP blank, const double *fault,
                       SEXP found)
{
    static const char *names[] = {"time", "text", "n", "lines", "blank", "fault", "found",
                                  ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, time);
    SET_VECTOR_ELT(list, 1, out->text);
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal((double)out->n));
    SET_VECTOR_ELT(list, 3, Rf_ScalarReal((double)out->lines));
    SET_VECTOR_ELT(list, 4, blank);
    SET_VECTOR_ELT(list, 5, Rf_allocVector(REALSXP, 2));
    memcpy(REAL(VECTOR_ELT(list, 5)), fault, 2 * sizeof *fault);
    SET_VECTOR_ELT(list, 6, found);
    UNPROTECT(1);
    return list;
}

SEXP r_csv_rows(SEXP bytes, SEXP options)
{
    layout how = read_layout(options);
    const char *text = (const char *)RAW(numbers(bytes, RAWSXP, 0, "bytes"));
    size_t size = (size_t)Rf_xlength(bytes), longest;
    R_xlen_t most = count_lines(text, size, &longest);
    require(longest < INT_MAX, "lines");
    R_CheckUserInterrupt();

    /* Lines bound the rows; R cuts the vectors to the rows there are. */
    SEXP time = PROTECT(Rf_allocVector(REALSXP, how.time ? most : 0));
    SEXP texts = PROTECT(Rf_allocVector(VECSXP, how.texts));
    for (int k = 0; k < how.texts; k++)
        SET_VECTOR_ELT(texts, k, Rf_allocVector(STRSXP, most));
    SEXP blank = PROTECT(Rf_allocVector(INTSXP, most));
    syn_csv_field *field = (syn_csv_field *)R_alloc(how.room, sizeof *field);
    char *buffer = R_alloc(longest + 1, 1);
    rows out = {.time = REAL(time), .text = texts};
    double fault[2] = {0, 0};
    R_xlen_t blanks = 0;
    SEXP found = R_NilValue;
    for (size_t at = 0, next; at < size && fault[0] == 0; at += next) {
        size_t length = syn_csv_line(text + at, size - at, &next);
        syn_csv_fault cut;
        size_t fields = syn_csv_split(text + at, length, how.sep, field, how.room, &cut);
        out.lines++;
        fault[0] = cut;
        if (cut == SYN_CSV_SOUND && fields == 0) {
            INTEGER(blank)[blanks++] = (int)out.n;
            continue;
        }
        if (cut == SYN_CSV_SOUND)
            fault[0] = take_row(&out, &how, field, fields, buffer);
        fault[1] = (double)fields;
        if (fault[0] == ROW_NOT_A_NUMBER)
            found = Rf_ScalarString(field_text(&field[how.time - 1], buffer));
        out.n++;
    }
    PROTECT(found);
    blank = PROTECT(Rf_xlengthgets(blank, blanks));
    SEXP list = csv_result(&out, time, blank, fault, found);
    UNPROTECT(5);
    return list;
}

SEXP r_csv_fields(SEXP lines, SEXP sep)
{
    R_xlen_t n = Rf_xlength(numbers(lines, STRSXP, 0, "lines"));
    SEXP list = PROTECT(Rf_allocVector(VECSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        const char *line = CHAR(STRING_ELT(lines, i));
        size_t length = strlen(line);
        syn_csv_field *field = (syn_csv_field *)R_alloc(length + 1, sizeof *field);
        char *buffer = R_alloc(length + 1, 1);
        syn_csv_fault fault;
        size_t fields = syn_csv_split(line, length, (char)Rf_asInteger(sep), field,
                                      length + 1, &fault);
        SEXP row = Rf_allocVector(STRSXP, (R_xlen_t)fields);
        SET_VECTOR_ELT(list, i, row);
        for (size_t k = 0; k < fields; k++) {
            int size = (int)syn_csv_text(&field[k], buffer);
            SET_STRING_ELT(row, (R_xlen_t)k, Rf_mkCharLenCE(buffer, size, CE_UTF8));
        }
    }
    UNPROTECT(1);
    return list;
}

SEXP r_crc32(SEXP crc, SEXP bytes)
{
    numbers(bytes, RAWSXP, 0, "bytes");
    return Rf_ScalarReal((double)syn_crc32((uint32_t)Rf_asReal(crc), RAW(bytes),
                                           (size_t)Rf_xlength(bytes)));
}
