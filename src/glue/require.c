/* Raises R's error where a value breaks what R's side has promised. */
#include "glue/require.h"

/* Calls a function of this package that raises an error; `call` is not yet protected. */
static void raise(SEXP call)
{
    PROTECT(call);
    SEXP package = PROTECT(Rf_mkString("synfire"));
    SEXP home = PROTECT(R_FindNamespace(package));
    Rf_eval(call, home);
    UNPROTECT(3);
    Rf_error("this should have been an error of synfire");
}

void glue_refuse(const char *what)
{
    SEXP text = PROTECT(Rf_mkString(what));
    raise(Rf_lang2(Rf_install("refuse_given"), text));
    UNPROTECT(1);
}

void glue_no_memory(double bytes)
{
    SEXP needed = PROTECT(Rf_ScalarReal(bytes));
    raise(Rf_lang2(Rf_install("refuse_memory"), needed));
    UNPROTECT(1);
}

void glue_refuse_option(const char *name, SEXP value, const char *needed)
{
    SEXP option = PROTECT(Rf_mkString(name)), text = PROTECT(Rf_mkString(needed));
    SEXP given = PROTECT(Rf_lang2(R_QuoteSymbol, value));
    raise(Rf_lang4(Rf_install("refuse_option"), option, given, text));
    UNPROTECT(3);
}
