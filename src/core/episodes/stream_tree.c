/* Trees of a stream: how they are written and compared. */
#include "core/episodes/stream_tree.h"

#include <string.h>

#include "core/episodes/stream_kept.h"

void syn_stream_write_tree(const syn_stream *s, int *field, double *serial)
{
    size_t n = s->n_kept;
    memset(field, 0, SYN_TREE_FIELDS * n * sizeof *field);
    memset(serial, 0, n * sizeof *serial);
    for (uint32_t id = 1; id < n; id++) {
        const syn_stream_kept *k = &s->kept[id];
        if (!k->used)
            continue;
        field[id] = (int)k->size;
        field[n + id] = (int)k->unit;
        field[2 * n + id] = (int)k->interval;
        field[3 * n + id] = (int)k->parent;
        field[4 * n + id] = (int)k->suffix;
        serial[id] = (double)k->serial;
    }
}

syn_stream_tree syn_stream_tree_of(uint32_t n, const int *field, const double *serial)
{
    return (syn_stream_tree){.n = n, .size = field, .unit = field + n,
                             .interval = field + 2 * (size_t)n,
                             .parent = field + 3 * (size_t)n,
                             .suffix = field + 4 * (size_t)n, .serial = serial};
}

static int is_below(int value, uint32_t bound) { return (uint32_t)value < bound; }

static int is_part(const syn_stream_shown *s, uint32_t id, int part)
{
    const int *size = s->tree.size;
    if (!is_below(part, s->tree.n))
        return 0;
    return size[id] == 1 || (size[part] == size[id] - 1 &&
                             (syn_stream_is_shown(s, (uint32_t)part) ||
                              !syn_stream_is_shown(s, id)));
}

int syn_stream_shown_sound(const syn_stream_shown *s, uint32_t units, uint32_t intervals)
{
    const syn_stream_tree *t = &s->tree;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->size[i] != 0 &&
            (t->size[i] < 0 || !is_below(t->unit[i], units) ||
             !is_below(t->interval[i], intervals) || !is_part(s, i, t->parent[i]) ||
             !is_part(s, i, t->suffix[i])))
            return 0;
    return 1;
}

/* Whether the number stands for the same episode in both. */
static int is_same(const syn_stream_tree *a, const syn_stream_tree *b, uint32_t id)
{
    return id < a->n && id < b->n && a->serial[id] == b->serial[id];
}

static uint32_t count_shown(const syn_stream_shown *s)
{
    uint32_t n = 0;
    for (uint32_t id = 0; id < s->tree.n; id++)
        n += (uint32_t)syn_stream_is_shown(s, id);
    return n;
}

syn_stream_tally syn_stream_compare(const syn_stream_shown *before,
                                    const syn_stream_shown *now)
{
    syn_stream_tally t = {.shown = count_shown(now)};
    if (before == NULL) {
        t.come = t.shown;
        return t;
    }
    int same_tree = before->tree.size == now->tree.size;
    uint32_t both = 0;
    for (uint32_t id = 0; id < now->tree.n && id < before->tree.n; id++) {
        if (!syn_stream_is_shown(now, id) || !syn_stream_is_shown(before, id) ||
            (!same_tree && !is_same(&before->tree, &now->tree, id)))
            continue;
        both++;
        t.risen += now->count[id] > before->count[id];
        t.fallen += now->count[id] < before->count[id];
    }
    t.come = t.shown - both;
    t.gone = count_shown(before) - both;
    return t;
}
