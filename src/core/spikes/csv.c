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

static int is_end(char c, char sep)
{
    return sep ? c == sep : c == ' ' || c == '\t';
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
    while (at < length && !is_end(line[at], sep))
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
