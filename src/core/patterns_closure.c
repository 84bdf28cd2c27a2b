#include "core/patterns_engine.h"

syn_status syn_patterns_closure(syn_pattern_search *search)
{
    return syn_pattern_parts(search, 0);
}
