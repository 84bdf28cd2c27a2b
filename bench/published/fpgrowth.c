/*
 * FP-growth as printed, and the filters of spike patterns after it.
 *
 * One FP-tree of all transactions is built, and every frequent itemset is grown from it
 * and kept; then the itemsets that are no spike patterns are dropped (no item at lag 0,
 * too few units); then those that are not closed. Porrmann et al. (2021) put the filters
 * into the search instead. Written to be read, and to be compared with: one thread, and
 * no other shortcut than the least size of a set.
 *
 * A plain C library for .C() of R: R CMD SHLIB fpgrowth.c. Items are unit * window + lag.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Growing arrays, within the bytes that are allowed --------------------------- */

enum { DONE, OUT_OF_MEMORY, OUT_OF_TIME };

typedef struct {
  double bytes, most_bytes;  /* held, allowed */
  double until;              /* processor seconds at which to stop */
  int status;
} limits;

/* `array` with room for one more than `n` elements, or NULL, with the status set */
static void *grow(limits *limit, void *array, size_t *room, size_t n, size_t size) {
  if (n < *room) return array;
  size_t more = *room ? 2 * *room : 16;
  if (limit->bytes + (double) more * size > limit->most_bytes) {
    limit->status = OUT_OF_MEMORY;
    return NULL;
  }
  void *grown = realloc(array, more * size);
  if (!grown) {
    limit->status = OUT_OF_MEMORY;
    return NULL;
  }
  limit->bytes += (double) (more - *room) * size;
  *room = more;
  return grown;
}

/* ---- The FP-tree ----------------------------------------------------------------- */

/* Items of a tree are numbered by falling count in all transactions, from 0. */
typedef struct {
  int32_t item, count;
  int32_t parent;  /* 0 is the root */
  int32_t next;    /* another node with the same item, or 0 */
} node;

typedef struct {
  node *nodes;
  size_t n, room;
  int32_t *heads;  /* of each item the first of its nodes, or 0 */
  int32_t *counts;
  uint16_t *names; /* the items of the transactions */
  int32_t items;
} tree;

static void tree_free(limits *limit, tree *t) {
  limit->bytes -= (double) t->room * sizeof(node);
  free(t->nodes);
  free(t->heads);
  free(t->counts);
  free(t->names);
}

static int tree_new(limits *limit, tree *t, int32_t items) {
  memset(t, 0, sizeof *t);
  t->items = items;
  t->heads = calloc((size_t) items + 1, sizeof *t->heads);
  t->counts = calloc((size_t) items + 1, sizeof *t->counts);
  t->names = malloc(((size_t) items + 1) * sizeof *t->names);
  t->nodes = grow(limit, NULL, &t->room, 0, sizeof(node));
  if (!t->heads || !t->counts || !t->names) limit->status = OUT_OF_MEMORY;
  if (limit->status) return 0;
  t->nodes[0] = (node){-1, 0, 0, 0};
  t->n = 1;
  return 1;
}

/*
 * Add a path of `n` items, in rising order. Paths come sorted, so that those that begin
 * alike follow each other: the only node that can be shared is the last one of its item.
 */
static int tree_add(limits *limit, tree *t, const int32_t *path, size_t n,
                    int32_t count) {
  int32_t at = 0;
  for (size_t k = 0; k < n; k++) {
    int32_t last = t->heads[path[k]];
    t->counts[path[k]] += count;
    if (last && t->nodes[last].parent == at) {
      t->nodes[last].count += count;
      at = last;
      continue;
    }
    node *nodes = grow(limit, t->nodes, &t->room, t->n, sizeof(node));
    if (!nodes) return 0;
    t->nodes = nodes;
    t->nodes[t->n] = (node){path[k], count, at, last};
    at = t->heads[path[k]] = (int32_t) t->n++;
  }
  return 1;
}

/* ---- What is found: the sets of each size, side by side -------------------------- */

enum { MOST_SIZE = 64 };

typedef struct {
  uint16_t *items;  /* `size` of each set, rising */
  int32_t *counts;
  size_t n, room_items, room_counts;
} pool;

typedef struct {
  limits limit;
  pool pools[MOST_SIZE + 1];
  int32_t min_count, min_size, window, min_units;
  int32_t *tally, *path;  /* scratch: one for each item of the tree of all transactions */
  uint16_t set[MOST_SIZE];
  double visited;       /* frequent sets, also those that are too small */
  double next_look;     /* at the clock */
} search;

static double cpu_now(void) { return (double) clock() / CLOCKS_PER_SEC; }

static int by_value(const void *a, const void *b) {
  return (int) *(const uint16_t *) a - (int) *(const uint16_t *) b;
}

static int keep(search *s, int32_t size, int32_t count) {
  s->visited++;
  if (s->visited >= s->next_look) {
    s->next_look = s->visited + 1e5;
    if (cpu_now() > s->limit.until) s->limit.status = OUT_OF_TIME;
  }
  if (s->limit.status) return 0;
  if (size < s->min_size) return 1;
  pool *p = &s->pools[size];
  uint16_t *items =
    grow(&s->limit, p->items, &p->room_items, p->n, sizeof(uint16_t) * (size_t) size);
  if (items) p->items = items;
  int32_t *counts = grow(&s->limit, p->counts, &p->room_counts, p->n, sizeof(int32_t));
  if (counts) p->counts = counts;
  if (!items || !counts) return 0;
  uint16_t *to = p->items + p->n * (size_t) size;
  memcpy(to, s->set, sizeof(uint16_t) * (size_t) size);
  qsort(to, (size_t) size, sizeof(uint16_t), by_value);
  p->counts[p->n++] = count;
  return 1;
}

/* ---- Growth ---------------------------------------------------------------------- */

/* Numbers of the items below `item` in its conditional tree; -1 for those rare in it */
static int32_t number_frequent(search *s, const tree *t, int32_t item) {
  memset(s->tally, 0, (size_t) item * sizeof *s->tally);
  for (int32_t k = t->heads[item]; k; k = t->nodes[k].next)
    for (int32_t up = t->nodes[k].parent; up; up = t->nodes[up].parent)
      s->tally[t->nodes[up].item] += t->nodes[k].count;
  int32_t n = 0;
  for (int32_t k = 0; k < item; k++) s->tally[k] = s->tally[k] >= s->min_count ? n++ : -1;
  return n;
}

/* The tree of the paths above the nodes of an item, with the items frequent in them */
static int condition(search *s, const tree *t, int32_t item, tree *out) {
  int32_t items = number_frequent(s, t, item);
  if (!items) return 1;
  if (!tree_new(&s->limit, out, items)) return 0;
  for (int32_t k = 0; k < item; k++)
    if (s->tally[k] >= 0) out->names[s->tally[k]] = t->names[k];
  for (int32_t k = t->heads[item]; k; k = t->nodes[k].next) {
    int32_t *end = s->path + item, *path = end;
    for (int32_t up = t->nodes[k].parent; up; up = t->nodes[up].parent)
      if (s->tally[t->nodes[up].item] >= 0) *--path = s->tally[t->nodes[up].item];
    size_t n = (size_t) (end - path);
    if (!tree_add(&s->limit, out, path, n, t->nodes[k].count)) return 0;
  }
  return 1;
}

static int mine(search *s, const tree *t, int32_t depth) {
  if (depth == MOST_SIZE) return 1;
  for (int32_t item = t->items - 1; item >= 0; item--) {
    if (t->counts[item] < s->min_count) continue;
    s->set[depth] = t->names[item];
    if (!keep(s, depth + 1, t->counts[item])) return 0;
    tree below = {0};
    int good = condition(s, t, item, &below);
    if (good && below.n) good = mine(s, &below, depth + 1);
    tree_free(&s->limit, &below);
    if (!good) return 0;
  }
  return 1;
}

/* ---- The tree of all transactions ------------------------------------------------ */

static const int32_t *order_by;

static int by_falling_count(const void *a, const void *b) {
  int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;
  if (order_by[x] != order_by[y]) return order_by[x] > order_by[y] ? -1 : 1;
  return x < y ? -1 : x > y;
}

static int by_number(const void *a, const void *b) {
  int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;
  return x < y ? -1 : x > y;
}

typedef struct {
  const int32_t *items;
  size_t n;
} transaction;

static int by_path(const void *a, const void *b) {
  const transaction *x = a, *y = b;
  for (size_t k = 0; k < x->n && k < y->n; k++)
    if (x->items[k] != y->items[k]) return x->items[k] < y->items[k] ? -1 : 1;
  return x->n < y->n ? -1 : x->n > y->n;
}

/* Frequent items get their rank by falling count, and are all that transactions keep. */
static int plant(search *s, tree *t, const int *first, const int *item, int n,
                 int items) {
  size_t all = (size_t) first[n];
  int32_t *counts = calloc((size_t) items, sizeof *counts);
  int32_t *order = malloc((size_t) items * sizeof *order);
  int32_t *rank = malloc((size_t) items * sizeof *rank);
  int32_t *ranked = malloc((all + 1) * sizeof *ranked);
  transaction *rows = malloc(((size_t) n + 1) * sizeof *rows);
  s->tally = malloc(((size_t) items + 1) * sizeof *s->tally);
  s->path = malloc(((size_t) items + 1) * sizeof *s->path);
  int good = counts && order && rank && ranked && rows && s->tally && s->path;
  if (!good) s->limit.status = OUT_OF_MEMORY;
  int32_t frequent = 0;
  if (good) {
    for (size_t k = 0; k < all; k++) counts[item[k]]++;
    for (int32_t k = 0; k < items; k++) order[k] = k;
    order_by = counts;
    qsort(order, (size_t) items, sizeof *order, by_falling_count);
    for (int32_t k = 0; k < items; k++) {
      rank[order[k]] = k;
      if (counts[order[k]] >= s->min_count) frequent++;
    }
    size_t at = 0;
    for (int row = 0; row < n; row++) {
      rows[row] = (transaction){ranked + at, 0};
      for (int k = first[row]; k < first[row + 1]; k++)
        if (rank[item[k]] < frequent) ranked[at++] = rank[item[k]];
      rows[row].n = (size_t) (ranked + at - rows[row].items);
      qsort(ranked + at - rows[row].n, rows[row].n, sizeof *ranked, by_number);
    }
    qsort(rows, (size_t) n, sizeof *rows, by_path);
    good = tree_new(&s->limit, t, frequent);
    for (int32_t k = 0; good && k < frequent; k++) t->names[k] = (uint16_t) order[k];
    for (int row = 0; good && row < n; row++)
      good = tree_add(&s->limit, t, rows[row].items, rows[row].n, 1);
  }
  free(counts);
  free(order);
  free(rank);
  free(ranked);
  free(rows);
  return good;
}

/* ---- Filters --------------------------------------------------------------------- */

static int is_pattern(const search *s, const uint16_t *set, int32_t size) {
  int at_zero = 0;
  int32_t units = 0, last = -1;
  for (int32_t k = 0; k < size; k++) {  /* rising, so that items of a unit are together */
    if (set[k] % s->window == 0) at_zero = 1;
    if (set[k] / s->window != last) units++;
    last = set[k] / s->window;
  }
  return at_zero && units >= s->min_units;
}

static void drop_others(search *s) {
  for (int32_t size = 1; size <= MOST_SIZE; size++) {
    pool *p = &s->pools[size];
    size_t kept = 0;
    for (size_t k = 0; k < p->n; k++) {
      const uint16_t *set = p->items + k * (size_t) size;
      if (!is_pattern(s, set, size)) continue;
      memmove(p->items + kept * (size_t) size, set, sizeof(uint16_t) * (size_t) size);
      p->counts[kept++] = p->counts[k];
    }
    p->n = kept;
  }
}

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7fb5d329728ea185u;
  x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44du;
  return x ^ (x >> 33);
}

/* The sets of one size that a set one larger replaces: same count, one item more */
static int drop_replaced(search *s, int32_t size) {
  pool *small = &s->pools[size], *large = &s->pools[size + 1];
  if (!small->n || !large->n) return 1;
  size_t slots = 2;
  while (slots < 2 * small->n) slots *= 2;
  double bytes = (double) slots * sizeof(uint32_t) + (double) small->n;
  uint32_t *table = NULL;
  char *replaced = NULL;
  if (s->limit.bytes + bytes <= s->limit.most_bytes && small->n < UINT32_MAX) {
    table = calloc(slots, sizeof *table);
    replaced = calloc(small->n, 1);
  }
  if (!table || !replaced) {
    free(table);
    free(replaced);
    s->limit.status = OUT_OF_MEMORY;
    return 0;
  }
  for (size_t k = 0; k < small->n; k++) {
    const uint16_t *set = small->items + k * (size_t) size;
    uint64_t sum = 0;
    for (int32_t a = 0; a < size; a++) sum += mix(set[a] + 1u);
    size_t at = mix(sum) & (slots - 1);
    while (table[at]) at = (at + 1) & (slots - 1);
    table[at] = (uint32_t) k + 1;
  }
  for (size_t k = 0; k < large->n; k++) {
    const uint16_t *set = large->items + k * (size_t) (size + 1);
    uint64_t sum = 0;
    for (int32_t a = 0; a <= size; a++) sum += mix(set[a] + 1u);
    for (int32_t out = 0; out <= size; out++) {
      size_t at = mix(sum - mix(set[out] + 1u)) & (slots - 1);
      for (; table[at]; at = (at + 1) & (slots - 1)) {
        const uint16_t *other = small->items + (table[at] - 1) * (size_t) size;
        if (memcmp(other, set, sizeof(uint16_t) * (size_t) out) ||
            memcmp(other + out, set + out + 1, sizeof(uint16_t) * (size_t) (size - out)))
          continue;
        if (small->counts[table[at] - 1] == large->counts[k]) replaced[table[at] - 1] = 1;
        break;
      }
    }
    if (k % 100000 == 0 && cpu_now() > s->limit.until) s->limit.status = OUT_OF_TIME;
    if (s->limit.status) break;
  }
  size_t kept = 0;
  for (size_t k = 0; k < small->n; k++) {
    if (replaced[k]) continue;
    memmove(small->items + kept * (size_t) size, small->items + k * (size_t) size,
            sizeof(uint16_t) * (size_t) size);
    small->counts[kept++] = small->counts[k];
  }
  small->n = kept;
  free(table);
  free(replaced);
  return !s->limit.status;
}

static double number(const search *s) {
  double n = 0;
  for (int32_t size = 1; size <= MOST_SIZE; size++) n += (double) s->pools[size].n;
  return n;
}

/*
 * Items `item[first[k]]` to `item[first[k + 1] - 1]` are those of transaction k, each
 * below `items`. options: min_count, min_size, window, min_units. most: bytes, processor
 * seconds. out: status, nodes of the tree, frequent sets, those of them of at least
 * min_size, those that pass the filters, closed ones. sets, set_counts: room for `room`
 * items of closed sets as (size, items ...), and for their counts; room 0 for none.
 */
void fpgrowth(const int *first, const int *item, const int *n, const int *items,
              const int *options, const double *most, double *out, const int *room,
              int *sets, int *set_counts) {
  search *s = calloc(1, sizeof *s);
  if (!s) {
    out[0] = OUT_OF_MEMORY;
    return;
  }
  s->min_count = options[0];
  s->min_size = options[1];
  s->window = options[2];
  s->min_units = options[3];
  s->limit.most_bytes = most[0];
  s->limit.until = cpu_now() + most[1];
  tree t = {0};
  int good = plant(s, &t, first, item, *n, *items);
  out[1] = (double) t.n - 1;
  good = good && mine(s, &t, 0);
  tree_free(&s->limit, &t);
  out[2] = s->visited;
  out[3] = number(s);
  out[4] = out[5] = -1;
  if (good) {
    drop_others(s);
    out[4] = number(s);
    for (int32_t size = 1; good && size < MOST_SIZE; size++)
      good = drop_replaced(s, size);
    if (good) out[5] = number(s);
  }
  out[0] = s->limit.status;
  int at = 0, set = 0;
  for (int32_t size = 1; good && size <= MOST_SIZE; size++) {
    const pool *p = &s->pools[size];
    for (size_t k = 0; k < p->n && at + size + 1 <= *room; k++) {
      sets[at++] = size;
      for (int32_t a = 0; a < size; a++) sets[at++] = p->items[k * (size_t) size + a];
      set_counts[set++] = p->counts[k];
    }
  }
  for (int32_t size = 0; size <= MOST_SIZE; size++) {
    free(s->pools[size].items);
    free(s->pools[size].counts);
  }
  free(s->tally);
  free(s->path);
  free(s);
}
