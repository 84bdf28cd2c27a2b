#include "core/patterns_engine.h"

syn_status syn_patterns_fpgrowth(syn_pattern_search *search)
{
    return syn_pattern_parts(search, 0);
}
