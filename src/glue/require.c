/* Raises R's error where a value breaks what R's side has promised. */
#include "glue/require.h"

void glue_refuse(const char *what)
{
    SEXP package = PROTECT(Rf_mkString("synfire"));
    SEXP home = PROTECT(R_FindNamespace(package));
    SEXP text = PROTECT(Rf_mkString(what));
    SEXP call = PROTECT(Rf_lang2(Rf_install("refuse_given"), text));
    Rf_eval(call, home);
    UNPROTECT(4);
    Rf_error("%s", what);
}
