#include "server/tools/result_form.h"

#include <string.h>

enum result_form result_form_find(const char *name)
{
    if (strcmp(name, "text") == 0)
        return RESULT_FORM_TEXT;
    return strcmp(name, "structured") == 0 ? RESULT_FORM_STRUCTURED : RESULT_FORM_UNSAID;
}
