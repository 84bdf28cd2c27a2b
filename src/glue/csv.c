/* Tables of spikes as text: reads the rows of a block of bytes, splits lines into
   fields, and computes the CRC-32 of bytes. */
#include "glue/require.h"

#include <R_ext/Utils.h>
#include <limits.h>
#include <string.h>

#include "core/spikes/csv.h"
#include "core/spikes/codes.h"
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

/* A column of text: its distinct names, and which one each row has. */
typedef struct text_column {
    int *code;
    syn_names names;
} text_column;

/* Rows of a block of whole lines; how many times are not finite. */
typedef struct rows {
    R_xlen_t n, lines, odd;
    double *time;
    text_column *text;
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
    if (syn_csv_decimal(field, dec, out))
        return 1;
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

/* Text with quotes that were written twice has another length than in the file. */
static const char *plain_text(const syn_csv_field *field, size_t *length)
{
    *length = field->length;
    if (!field->doubled)
        return field->text;
    char *text = R_alloc(field->length, 1);
    *length = syn_csv_text(field, text);
    return text;
}

/* Stores a row; what is wrong with it, or 0. */
static int take_row(rows *out, const layout *how, const syn_csv_field *field,
                    size_t fields, char *buffer)
{
    static const syn_csv_field none = {"", 0, 0};
    if (how->fields && fields != how->fields)
        return ROW_RAGGED;
    if (how->time) {
        double *time = &out->time[out->n];
        if (!decimal(&field[how->time - 1], how->dec, buffer, time))
            return ROW_NOT_A_NUMBER;
        out->odd += !R_FINITE(*time);
    }
    for (int k = 0; k < how->texts; k++) {
        size_t at = (size_t)how->text[k] - 1, length;
        const char *text = plain_text(at < fields ? &field[at] : &none, &length);
        out->text[k].code[out->n] = (int)syn_names_add(&out->text[k].names, text, length);
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

/* A list of the codes and the names of each column of text, with room for `most` rows. */
static SEXP text_columns(rows *out, int texts, R_xlen_t most)
{
    SEXP list = PROTECT(Rf_allocVector(VECSXP, texts));
    out->text = (text_column *)R_alloc((size_t)texts, sizeof *out->text);
    for (int k = 0; k < texts; k++) {
        static const char *names[] = {"code", "values", ""};
        SEXP column = Rf_mkNamed(VECSXP, names);
        SET_VECTOR_ELT(list, k, column);
        SET_VECTOR_ELT(column, 0, Rf_allocVector(INTSXP, most));
        size_t slots = syn_names_slots((size_t)most);
        syn_names empty = {(syn_name *)R_alloc((size_t)most, sizeof(syn_name)),
                           (uint32_t *)R_alloc(slots, sizeof(uint32_t)), slots, 0};
        memset(empty.slot, 0, slots * sizeof *empty.slot);
        out->text[k] = (text_column){INTEGER(VECTOR_ELT(column, 0)), empty};
    }
    UNPROTECT(1);
    return list;
}

static void name_values(SEXP list, const rows *out)
{
    for (R_xlen_t k = 0; k < Rf_xlength(list); k++) {
        const syn_names *names = &out->text[k].names;
        SEXP column = VECTOR_ELT(list, k);
        SEXP values = Rf_allocVector(STRSXP, (R_xlen_t)names->n);
        SET_VECTOR_ELT(column, 1, values);
        for (size_t i = 0; i < names->n; i++) {
            syn_name one = names->name[i];
            SET_STRING_ELT(values, (R_xlen_t)i,
                           Rf_mkCharLenCE(one.text, (int)one.length, CE_NATIVE));
        }
        SET_VECTOR_ELT(column, 0, Rf_xlengthgets(VECTOR_ELT(column, 0), out->n));
    }
}

static SEXP csv_result(const rows *out, SEXP time, SEXP text, SEXP blank,
                       const double *fault, SEXP found)
{
    static const char *names[] = {"time", "text",  "n",     "lines", "odd",
                                  "blank", "fault", "found", ""};
    SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(list, 0, time);
    SET_VECTOR_ELT(list, 1, text);
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal((double)out->n));
    SET_VECTOR_ELT(list, 3, Rf_ScalarReal((double)out->lines));
    SET_VECTOR_ELT(list, 4, Rf_ScalarReal((double)out->odd));
    SET_VECTOR_ELT(list, 5, blank);
    SET_VECTOR_ELT(list, 6, Rf_allocVector(REALSXP, 2));
    memcpy(REAL(VECTOR_ELT(list, 6)), fault, 2 * sizeof *fault);
    SET_VECTOR_ELT(list, 7, found);
    UNPROTECT(1);
    return list;
}

static SEXP found_text(const syn_csv_field *field)
{
    size_t length;
    const char *text = plain_text(field, &length);
    return Rf_ScalarString(Rf_mkCharLenCE(text, (int)length, CE_NATIVE));
}

SEXP r_csv_rows(SEXP bytes, SEXP first, SEXP last, SEXP options)
{
    layout how = read_layout(options);
    R_xlen_t all = Rf_xlength(numbers(bytes, RAWSXP, 0, "bytes"));
    double from = within(Rf_asReal(first), 1, (double)all + 1, "bytes") - 1;
    const char *text = (const char *)RAW(bytes) + (size_t)from;
    size_t size = (size_t)(within(Rf_asReal(last), from, (double)all, "bytes") - from);
    size_t longest;
    R_xlen_t most = count_lines(text, size, &longest);
    require(longest < INT_MAX, "lines");
    R_CheckUserInterrupt();

    /* Lines bound the rows; R cuts the vectors to the rows there are. */
    SEXP time = PROTECT(Rf_allocVector(REALSXP, how.time ? most : 0));
    rows out = {.time = REAL(time)};
    SEXP texts = PROTECT(text_columns(&out, how.texts, most));
    SEXP blank = PROTECT(Rf_allocVector(INTSXP, most));
    syn_csv_field *field = (syn_csv_field *)R_alloc(how.room, sizeof *field);
    char *buffer = R_alloc(longest + 1, 1);
    syn_csv_reader reader = syn_csv_reader_of(how.sep);
    double fault[2] = {0, 0};
    R_xlen_t blanks = 0;
    SEXP found = R_NilValue;
    for (size_t at = 0, next; at < size && fault[0] == 0; at += next) {
        syn_csv_fault cut;
        size_t fields = syn_csv_row(&reader, text + at, size - at, field, how.room, &next,
                                    &cut);
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
            found = found_text(&field[how.time - 1]);
        if (fault[0] != 0)
            break;
        out.n++;
    }
    PROTECT(found);
    blank = PROTECT(Rf_xlengthgets(blank, blanks));
    time = PROTECT(how.time ? Rf_xlengthgets(time, out.n) : time);
    name_values(texts, &out);
    SEXP list = csv_result(&out, time, texts, blank, fault, found);
    UNPROTECT(6);
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
