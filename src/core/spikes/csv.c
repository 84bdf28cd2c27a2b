/* Cuts text into lines and lines into fields. Nothing is copied: a field is a pointer
   into the text and a length. Reading numbers and reporting faults is the caller's part.
   */
#include "core/spikes/csv.h"

#include <string.h>

size_t syn_csv_line(const char *text, size_t size, size_t *next)
{
    size_t length = 0;
    while (length < size && text[length] != '\n' && text[length] != '\r')
        length++;
    size_t end = length;
    if (end < size && text[end] == '\r')
        end++;
    if (end < size && text[end] == '\n' && (end == length || text[end - 1] == '\r'))
        end++;
    *next = end;
    return length;
}

static int is_blank(char c, char sep)
{
    return c != sep && (c == ' ' || c == '\t');
}

static int is_control(char c)
{
    unsigned char u = (unsigned char)c;
    return u < 9 || (u > 13 && u < 32);
}

/* From the quote at `at`; the place after the one that closes it. */
static size_t quoted_field(const char *line, size_t at, size_t length,
                           syn_csv_field *field, syn_csv_fault *fault)
{
    size_t first = ++at;
    field->text = line + first;
    for (;;) {
        const char *quote = memchr(line + at, '"', length - at);
        if (!quote) {
            *fault = SYN_CSV_OPEN_QUOTE;
            field->length = length - first;
            return length;
        }
        at = (size_t)(quote - line);
        if (at + 1 >= length || line[at + 1] != '"')
            break;
        field->doubled = 1;
        at += 2;
    }
    field->length = at - first;
    return at + 1;
}

static size_t plain_field(const char *line, size_t at, size_t length, char sep,
                          syn_csv_field *field)
{
    size_t first = at;
    while (at < length && !(sep ? line[at] == sep : line[at] == ' ' || line[at] == '\t'))
        at++;
    size_t end = at;
    while (end > first && is_blank(line[end - 1], sep))
        end--;
    field->text = line + first;
    field->length = end - first;
    return at;
}

size_t syn_csv_split(const char *line, size_t length, char sep, syn_csv_field *field,
                     size_t room, syn_csv_fault *fault)
{
    *fault = SYN_CSV_SOUND;
    for (size_t i = 0; i < length; i++)
        if (is_control(line[i])) {
            *fault = SYN_CSV_BINARY;
            return 0;
        }

    size_t fields = 0, at = 0;
    while (at < length && (line[at] == ' ' || (line[at] == '\t' && sep != '\t')))
        at++;
    if (at == length)
        return 0;
    for (;;) {
        syn_csv_field one = {line + at, 0, 0};
        if (at < length && line[at] == '"')
            at = quoted_field(line, at, length, &one, fault);
        else
            at = plain_field(line, at, length, sep, &one);
        if (fields < room)
            field[fields] = one;
        fields++;

        size_t closed = at;
        while (at < length && is_blank(line[at], sep))
            at++;
        if (at == length)
            return fields;
        if (sep ? line[at] != sep : at == closed) {
            *fault = SYN_CSV_AFTER_QUOTE;
            return fields;
        }
        at += sep != 0;
        while (at < length && is_blank(line[at], sep))
            at++;
    }
}

enum { PLAIN, SEPARATOR, LINE_END, OTHER };

syn_csv_reader syn_csv_reader_of(char sep)
{
    syn_csv_reader reader = {.sep = sep};
    for (int c = 0; c < 256; c++)
        reader.kind[c] = is_control((char)c) ? OTHER : PLAIN;
    reader.kind['"'] = reader.kind[' '] = reader.kind['\t'] = OTHER;
    reader.kind['\n'] = reader.kind['\r'] = LINE_END;
    if (sep)
        reader.kind[(unsigned char)sep] = SEPARATOR;
    return reader;
}

size_t syn_csv_row(const syn_csv_reader *reader, const char *text, size_t size,
                   syn_csv_field *field, size_t room, size_t *next, syn_csv_fault *fault)
{
    size_t fields = 0, first = 0, at = 0;
    for (;; at++) {
        int kind = at < size ? reader->kind[(unsigned char)text[at]] : LINE_END;
        if (kind == PLAIN)
            continue;
        if (kind == OTHER)
            break;
        if (fields < room)
            field[fields] = (syn_csv_field){text + first, at - first, 0};
        fields++;
        first = at + 1;
        if (kind == LINE_END) {
            *fault = SYN_CSV_SOUND;
            *next = at + (at < size) +
                    (at + 1 < size && text[at] == '\r' && text[at + 1] == '\n');
            return at == 0 ? 0 : fields;
        }
    }
    size_t length = syn_csv_line(text, size, next);
    return syn_csv_split(text, length, reader->sep, field, room, fault);
}

int syn_csv_decimal(const syn_csv_field *field, char dec, double *out)
{
    /* All are whole numbers below 2^64, which a long double of 80 bits holds. */
    static const long double power[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                        1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                        1e14L, 1e15L, 1e16L, 1e17L, 1e18L};
    const char *text = field->text, *end = text + field->length;
    int negative = text < end && *text == '-';
    text += text < end && (*text == '-' || *text == '+');
    if (field->doubled || text == end || end - text > 19)
        return 0;
    uint64_t digits = 0;
    const char *mark = NULL;
    for (const char *c = text; c < end; c++) {
        unsigned digit = (unsigned)(*c - '0');
        if (digit < 10)
            digits = 10 * digits + digit;
        else if (*c == dec && !mark)
            mark = c;
        else
            return 0;
    }
    if (mark ? end - text < 2 : end - text > 18)
        return 0;
    long double value = (long double)digits;
    if (mark)
        value /= power[end - mark - 1];
    *out = (double)(negative ? -value : value);
    return 1;
}

size_t syn_csv_text(const syn_csv_field *field, char *out)
{
    size_t length = 0;
    for (size_t i = 0; i < field->length; i++) {
        out[length++] = field->text[i];
        i += field->doubled && field->text[i] == '"';
    }
    return length;
}

uint32_t syn_crc32(uint32_t crc, const unsigned char *bytes, size_t size)
{
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    crc = ~crc;
    for (size_t i = 0; i < size; i++)
        crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255];
    return ~crc;
}
