#include "server/tools/code/main_call.h"

#include "base/json.h"
#include "base/memory.h"
#include "server/tools/code/python_source.h"

#include <stdlib.h>
#include <string.h>

/* Its own line is left out of a traceback: the user has not written it. A program that ends with a
 * hook of its own ends slowly (core/script_end.c), so the former one is put back. */
static const char MAIN_CALL[] =
    "\n\n"
    "import json as _json\n"
    "import sys as _sys\n"
    "def _show(_kind, _error, _trace, _next=_sys.excepthook, _own=_sys._getframe()):\n"
    "    if _trace and _trace.tb_frame is _own:\n"
    "        _error = _error.with_traceback(_trace.tb_next)\n"
    "    _next(_kind, _error, _error.__traceback__)\n"
    "_sys.excepthook = _show\n"
    "_value = main(_json.loads(_json.loads(%s)))\n"
    "if _value is not None:\n"
    "    print(_json.dumps(_value))\n"
    "_sys.excepthook = _show.__defaults__[0]\n";

bool main_call_is_possible(const char *code, size_t length)
{
    return python_source_has(code, length, "main");
}

/* TEXT, which is UTF-8, as a string of JSON in ASCII. Owned by the caller. */
static char *main_call_quote(const char *text, size_t length)
{
    AUTO_JSON json_t *string = json_stringn(text, length);

    return json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
}

/* Python reads a string of JSON as its own if only quotes and backslashes are escaped in it. INPUT
 * becomes such a string in two steps, so that the encoding of the program does not matter. */
char *main_call_append(const char *code, size_t length, const char *input, size_t input_length,
                       size_t *ret_length)
{
    AUTO_FREE char *ascii = main_call_quote(input, input_length);
    AUTO_FREE char *literal = main_call_quote(ascii, strlen(ascii));
    AUTO_FREE char *call = memory_format(MAIN_CALL, literal);
    char *whole = memory_new(length + strlen(call) + 1, 1);

    memcpy(whole, code, length);
    memcpy(whole + length, call, strlen(call));
    *ret_length = length + strlen(call);
    return whole;
}
