/* Keeps the nearest of the rows that are offered. Rows are collected in a list with
   some room to spare; when it is full, it is cut down to the k nearest. At the end
   these are sorted. */
#include "core/edm/neighbours/nearest.h"

#include <float.h>
#include <stdlib.h>

enum { FEW = 48 };  /* entries sorted by insertion */

uint32_t syn_nearest_room(uint32_t k)
{
    return k + (k > 16 ? k : 16);
}

void syn_nearest_start(syn_nearest *list, uint32_t k)
{
    list->k = k;
    list->n = 0;
    list->room = syn_nearest_room(k);
    list->last = (syn_near){DBL_MAX, UINT32_MAX, UINT32_MAX};
}

void syn_nearest_cut(syn_nearest *list)
{
    syn_near *near = list->near;
    int64_t low = 0, high = (int64_t)list->n - 1, wanted = (int64_t)list->k - 1;
    while (low < high) {
        syn_near pivot = near[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (syn_near_before(&near[i], &pivot))
                i++;
            while (syn_near_before(&pivot, &near[j]))
                j--;
            if (i <= j) {
                syn_near other = near[i];
                near[i++] = near[j];
                near[j--] = other;
            }
        }
        if (wanted <= j)
            high = j;
        else if (wanted >= i)
            low = i;
        else
            break;
    }
    list->n = list->k;
    list->last = near[wanted];
}

static int compare(const void *a, const void *b)
{
    return syn_near_before(a, b) ? -1 : syn_near_before(b, a);
}

void syn_near_sort(syn_near *near, uint32_t n)
{
    if (n > FEW) {
        qsort(near, n, sizeof *near, compare);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        syn_near moved = near[i];
        uint32_t j = i;
        for (; j > 0 && syn_near_before(&moved, &near[j - 1]); j--)
            near[j] = near[j - 1];
        near[j] = moved;
    }
}

void syn_nearest_finish(syn_nearest *list)
{
    if (list->n > FEW && list->n > list->k)
        syn_nearest_cut(list);
    syn_near_sort(list->near, list->n);
    if (list->n > list->k)
        list->n = list->k;
}
