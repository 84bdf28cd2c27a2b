/* Makes the histograms of surrogates without counting anew. The lags of two units in a
   segment, around the segment, are counted once: a row of a byte a lag. In a surrogate
   the row begins elsewhere, so its histogram is a sum of as many pieces of rows as there
   are segments. Rows are followed by their beginning, as far as a histogram is long, so
   that each piece is in one.

   Where a segment has few pairs of spikes these are counted one by one in each surrogate;
   and so are those within reach where a segment is so long that most of a row would not
   be used. */
#include "core/assemblies/circular.h"

#include <string.h>

#include "core/base/parallel.h"
#include "core/base/seek.h"

enum {
    CELLS = 384 * 1024,     /* bytes of rows that are added together: they stay near */
    FEW = 64,               /* a pair of spikes costs as much as so many lags of a row */
    LONG = 1 << 22,         /* bins of a segment that rows are not made of */
    MANY = 1 << 28,         /* pairs of spikes that they are not made of */
    BYTE = UINT8_MAX
};

/* ---- memory ---- */

static size_t length_of(uint32_t margin)
{
    size_t lags = 2 * (size_t)margin + 1;
    return (lags / SYN_LANES_BLOCK + 1) * SYN_LANES_BLOCK;
}

static uint32_t longest_segment(const syn_binned *b)
{
    uint32_t longest = 1;
    for (uint32_t k = 0; k < b->segments; k++)
        if (b->n[k] <= LONG && b->n[k] > longest)
            longest = b->n[k];
    return longest;
}

double syn_circular_bytes(uint32_t margin, uint32_t n)
{
    return n * (2.0 * length_of(margin) + 4.0 * (SYN_CIRCULAR_ROWS + 8));
}

syn_status syn_circular_make(syn_circular *out, const syn_binned *binned,
                             const syn_lanes *lanes, uint64_t key, uint32_t margin,
                             uint32_t n, syn_budget *budget)
{
    size_t length = length_of(margin), longest = longest_segment(binned);
    size_t row = longest + length;
    *out = (syn_circular){.binned = binned, .lanes = lanes, .key = key, .margin = margin,
                          .length = length, .n = n, .budget = budget,
                          .room = row > CELLS ? row : CELLS};
    SYN_TAKE(budget, out->cell, out->room);
    SYN_TAKE(budget, out->twice, 2 * longest);
    SYN_TAKE(budget, out->start, SYN_CIRCULAR_ROWS * (size_t)n);
    SYN_TAKE(budget, out->sum, n * length);
    SYN_TAKE(budget, out->word, 8 * (size_t)n);
    SYN_TAKE(budget, out->lag, length / FEW);
    return SYN_OK;
}

/* ---- sums ---- */

/* Room in `wide`, with zeros. */
static syn_status need_wide(syn_circular *c)
{
    if (c->any_wide)
        return SYN_OK;
    size_t counts = c->n * c->length;
    if (!c->wide)
        SYN_TAKE(c->budget, c->wide, counts);
    memset(c->wide, 0, counts * sizeof *c->wide);
    c->any_wide = 1;
    return SYN_OK;
}

/* Makes room in `sum` for counts up to `more`. */
static syn_status need_room(syn_circular *c, uint32_t more)
{
    if (c->bound + more <= UINT16_MAX) {
        c->bound += more;
        return SYN_OK;
    }
    SYN_TRY(need_wide(c));
    for (size_t i = 0; i < c->n * c->length; i++)
        c->wide[i] += c->sum[i];
    memset(c->sum, 0, c->n * c->length * sizeof *c->sum);
    c->bound = more;
    return SYN_OK;
}

/* Adds the rows to all surrogates. */
static syn_status add_rows_to_all(syn_circular *c)
{
    if (c->rows == 0)
        return SYN_OK;
    syn_status status = need_room(c, c->most);
    for (uint32_t i = 0; status == SYN_OK && i < c->n; i++) {
        const uint8_t *row[SYN_CIRCULAR_ROWS];
        for (uint32_t r = 0; r < c->rows; r++)
            row[r] = c->row[r] + c->start[r * c->n + i];
        c->lanes->add(row, c->rows, c->length, c->sum + i * c->length);
    }
    c->rows = c->most = 0;
    c->used = 0;
    return status;
}

/* Where lag t - margin is counted. */
static size_t place_of(const syn_circular *c, size_t t)
{
    return (t & 1) * (c->length / 2) + t / 2;
}

/* ---- a segment ---- */

/* Spikes of both units in a segment, and random numbers for their shifts. */
typedef struct part {
    const uint32_t *a, *b;
    uint32_t spikes_a, spikes_b, n;
    const uint32_t *word_a, *word_b;
} part;

/* By how many places t, from 0 on, a lag moves on in surrogate i, modulo n. */
static uint32_t moved(const syn_circular *c, const part *p, uint32_t i)
{
    uint64_t n = p->n, a = p->word_a[i] * n >> 32, b = p->word_b[i] * n >> 32;
    uint64_t by = b + n - a + c->margin % n;
    by -= by >= n ? n : 0;
    return (uint32_t)(by >= n ? by - n : by);
}

/* Counts lags one by one, in each surrogate. */
static syn_status count_few(syn_circular *c, const part *p)
{
    uint32_t pairs = 0, n = p->n, lags = 2 * c->margin + 1;
    for (uint32_t x = 0; x < p->spikes_a; x++)
        for (uint32_t y = 0; y < p->spikes_b; y++)
            c->lag[pairs++] = p->b[y] - p->a[x] + (p->b[y] < p->a[x] ? n : 0);
    SYN_TRY(need_room(c, pairs));
    for (uint32_t i = 0; i < c->n; i++) {
        uint16_t *sum = c->sum + i * c->length;
        uint32_t by = moved(c, p, i);
        for (uint32_t k = 0; k < pairs; k++) {
            uint32_t t = c->lag[k] + by;
            t -= t >= n ? n : 0;
            /* What is out of reach is counted beyond the histogram. */
            sum[place_of(c, t < lags ? t : lags)]++;
            for (t = t < lags ? t : lags; n < lags && (t += n) < lags;)
                sum[place_of(c, t)]++;
        }
    }
    return SYN_OK;
}

/* Counts, surrogate after surrogate, the pairs of spikes within reach. */
static syn_status count_long(syn_circular *c, const part *p)
{
    double started = syn_seconds();
    uint32_t lags = 2 * c->margin + 1;
    SYN_TRY(need_wide(c));
    for (; c->surrogate < c->n; c->surrogate++) {
        if (syn_seconds() - started > SYN_SLICE_SECONDS)
            return SYN_UNFINISHED;
        uint32_t *sum = c->wide + c->surrogate * c->length;
        uint32_t by = moved(c, p, c->surrogate);
        for (uint32_t x = 0; x < p->spikes_a; x++) {
            /* The bin of b at place 0. */
            uint32_t zero = p->a[x] >= by ? p->a[x] - by : p->a[x] + (p->n - by);
            uint32_t low = 0;
            SYN_SEEK(uint32_t, y, low, p->spikes_b, p->b[y] < zero);
            for (uint32_t y = 0, at = low; y < p->spikes_b; y++) {
                at = at == p->spikes_b ? 0 : at;
                uint32_t t = p->b[at] - zero + (p->b[at] < zero ? p->n : 0);
                if (t >= lags)
                    break;
                sum[place_of(c, t)]++;
                at++;
            }
        }
    }
    c->surrogate = 0;
    return SYN_OK;
}

/* Makes a row of some of the spikes, of which no more than BYTE make a count. */
static syn_status add_row(syn_circular *c, const part *p)
{
    uint32_t n = p->n;
    size_t size = n + c->length;
    syn_status status = SYN_OK;
    if (c->rows == SYN_CIRCULAR_ROWS || c->used + size > c->room)
        status = add_rows_to_all(c);
    uint8_t *cell = c->cell + c->used;
    memset(c->twice, 0, 2 * (size_t)n);
    for (uint32_t x = 0; x < p->spikes_a; x++) {
        uint8_t *from = c->twice + (n - p->a[x]);
        for (uint32_t y = 0; y < p->spikes_b; y++)
            from[p->b[y]]++;
    }
    uint32_t most = c->lanes->fold(c->twice, n, cell);
    if (status == SYN_OK && c->most + most > BYTE) {
        status = add_rows_to_all(c);
        memmove(c->cell, cell, n);
        cell = c->cell;
    }
    for (size_t done = n; done < size;) {
        size_t more = size - done < done ? size - done : done;
        more = more - more % n ? more - more % n : more;
        memcpy(cell + done, cell, more);
        done += more;
    }
    uint32_t *start = c->start + (size_t)c->rows * c->n;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t by = moved(c, p, i);
        start[i] = by > 0 ? n - by : 0;
    }
    c->used += size;
    c->most += most;
    c->row[c->rows++] = cell;
    return status;
}

static syn_status count_part(syn_circular *c, const part *p)
{
    uint64_t pairs = (uint64_t)p->spikes_a * p->spikes_b, lags = 2 * c->margin + 1;
    if (pairs == 0)
        return SYN_OK;
    if (pairs <= c->length / FEW)
        return count_few(c, p);
    if (p->n > LONG || (p->n >= lags && (p->n > c->n * lags || pairs > MANY)))
        return count_long(c, p);
    /* Cuts the spikes so that no count of a row passes BYTE; `thick` is the most spikes
       of b in one bin. */
    uint32_t thick = 0, here = 0;
    for (uint32_t i = 0; i < p->spikes_b; i++) {
        here = i > 0 && p->b[i] == p->b[i - 1] ? here + 1 : 1;
        thick = here > thick ? here : thick;
    }
    uint32_t cut_a = thick <= BYTE ? BYTE / thick : 1;
    uint32_t cut_b = thick <= BYTE ? p->spikes_b : BYTE;
    for (uint32_t x = 0; x < p->spikes_a; x += cut_a)
        for (uint32_t y = 0; y < p->spikes_b; y += cut_b) {
            part some = *p;
            uint32_t left_a = p->spikes_a - x, left_b = p->spikes_b - y;
            some.a += x;
            some.b += y;
            some.spikes_a = left_a < cut_a ? left_a : cut_a;
            some.spikes_b = left_b < cut_b ? left_b : cut_b;
            SYN_TRY(add_row(c, &some));
        }
    return SYN_OK;
}

/* ---- a pair ---- */

syn_status syn_circular_count(syn_circular *c, uint32_t a, uint32_t b, uint64_t from)
{
    const syn_binned *x = c->binned;
    const uint32_t *at_a = x->first + (size_t)a * x->segments;
    const uint32_t *at_b = x->first + (size_t)b * x->segments;
    double started = syn_seconds();
    uint32_t drawn = UINT32_MAX;
    if (!c->begun) {
        memset(c->sum, 0, c->n * c->length * sizeof *c->sum);
        c->from = from;
        c->any_wide = 0;
        c->bound = c->rows = c->most = 0;
        c->used = 0;
        c->segment = c->surrogate = 0;
        c->begun = 1;
    }
    for (; c->segment < x->segments; c->segment++) {
        uint32_t k = c->segment;
        part p = {.a = x->bin + at_a[k], .b = x->bin + at_b[k],
                  .spikes_a = at_a[k + 1] - at_a[k], .spikes_b = at_b[k + 1] - at_b[k],
                  .n = x->n[k], .word_a = c->word + (size_t)(k % 4) * c->n,
                  .word_b = c->word + (size_t)(4 + k % 4) * c->n};
        if (p.spikes_a == 0 || p.spikes_b == 0)
            continue;
        if (drawn != k / 4) {
            drawn = k / 4;
            c->lanes->draw(c->key, from, c->n, a, drawn, c->word);
            c->lanes->draw(c->key, from, c->n, b, drawn, c->word + 4 * (size_t)c->n);
        }
        SYN_TRY(count_part(c, &p));
        if (k % 16 == 15 && syn_seconds() - started > SYN_SLICE_SECONDS) {
            c->segment++;
            return SYN_UNFINISHED;
        }
    }
    c->begun = 0;
    return add_rows_to_all(c);
}

syn_status syn_circular_sums(const syn_circular *c, uint32_t i, int32_t *sum)
{
    const uint16_t *even = c->sum + i * c->length, *odd = even + c->length / 2;
    uint32_t lags = 2 * c->margin + 1, last = lags / 2;
    int64_t total = 0;
    for (uint32_t t = 0; !c->any_wide && t < last; t++) {
        sum[2 * t] = (int32_t)(total += even[t]);
        sum[2 * t + 1] = (int32_t)(total += odd[t]);
    }
    const uint32_t *wide = c->any_wide ? c->wide + i * c->length : NULL;
    for (uint32_t t = wide ? 0 : lags - 1; t < lags; t++) {
        size_t at = place_of(c, t);
        sum[t] = (int32_t)(total += (wide ? wide[at] : 0) + (int64_t)even[at]);
    }
    return total > INT32_MAX ? SYN_TOO_LARGE : SYN_OK;
}
