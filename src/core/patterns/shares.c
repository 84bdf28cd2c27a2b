/* Cuts the search for patterns into shares. The work of a root grows with the number
   of its windows; a root with much work is cut into several shares. */
#include "core/patterns/shares.h"

#include <string.h>

#include "core/base/memory.h"
#include "core/patterns/mine.h"

/* So many windows of a root make a share: more would be too few to go round where one
   unit has most of the spikes, fewer would make its root again too often. */
enum { SHARE_WINDOWS = 64 };

static uint32_t shares_of(uint32_t windows, uint32_t min_count)
{
    return windows < min_count ? 0 : windows / SHARE_WINDOWS + 1;
}

/* windows[rank]: how many windows a root has. */
static syn_status count_windows(const syn_raster *raster, uint32_t *windows)
{
    uint32_t *rank;
    SYN_NEW(rank, (size_t)raster->units + 1);
    syn_status status = syn_pattern_ranks(raster, rank);
    for (uint32_t u = 0; status == SYN_OK && u < raster->units; u++)
        windows[rank[u]] = raster->unit_first[u + 1] - raster->unit_first[u];
    free(rank);
    return status;
}

static syn_status cut(const uint32_t *windows, uint32_t units, uint32_t window,
                      uint32_t min_count, syn_pattern_shares *out)
{
    size_t n = 0;
    for (uint32_t r = 0; r < units; r++)
        n += shares_of(windows[r], min_count);
    SYN_NEW(out->share, n + 1);
    for (uint32_t r = 0; r < units; r++) {
        uint32_t of = shares_of(windows[r], min_count);
        /* About the work of a root: measured on recordings, the third power of its
           windows or a little more. The items that can be added to it are all those at
           later lags, and at lag 0 those of higher rank: where windows are one bin, that
           is what counts. */
        double after = (double)units * (window - 1) + (units - r - 1);
        double side = windows[r] * after / ((double)units * window);
        double work = side * side * side;
        for (uint32_t k = 0; k < of; k++) {
            out->share[out->n++] = (syn_pattern_share){r, k, of, work / of};
        }
    }
    return SYN_OK;
}

syn_status syn_pattern_cut(const syn_raster *raster, uint32_t window, uint32_t min_count,
                           syn_pattern_shares *out)
{
    memset(out, 0, sizeof *out);
    uint32_t *windows;
    SYN_NEW_ZEROS(windows, (size_t)raster->units + 1);
    syn_status status = count_windows(raster, windows);
    SYN_NEXT(status, cut(windows, raster->units, window, min_count, out));
    free(windows);
    return status;
}

void syn_pattern_shares_free(syn_pattern_shares *shares)
{
    free(shares->share);
    memset(shares, 0, sizeof *shares);
}
