/* libcurl, loaded at the first use. With its own dependencies it is thirty libraries and a third of
 * the server's memory, which a server without containers saves. So nothing links with it: this file
 * defines the functions of <curl/curl.h> that are called, and each passes its arguments on. */
#define CURL_DISABLE_TYPECHECK /* its macros stand for the functions that are defined here */
#include "base/curl/curl_library.h"

#include <assert.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LIBRARY "libcurl.so.4" /* its binary interface has been the same since 2006 */

/* dlopen(3) counts: it is loaded once, and stays. */
static void *curl_library_open(void)
{
    return dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
}

int curl_library_load(struct error *err)
{
    if (curl_library_open())
        return 0;
    return error_set(err, ERROR_UNAVAILABLE,
                     "libcurl is needed and cannot be loaded; to install it: apt install libcurl4 "
                     "(Debian, Ubuntu), dnf install libcurl (Fedora): %s",
                     dlerror());
}

/* The function NAME of libcurl, which has been loaded before. */
static void *curl_library_find(const char *name)
{
    void *library = curl_library_open();
    void *function = library ? dlsym(library, name) : NULL;

    if (function)
        return function;
    fprintf(stderr, "pyexecd: %s\n", dlerror());
    exit(EXIT_FAILURE);
}

CURLcode curl_global_init(long flags)
{
    static typeof(&curl_global_init) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_global_init");
    return function(flags);
}

void curl_global_cleanup(void)
{
    static typeof(&curl_global_cleanup) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_global_cleanup");
    function();
}

CURL *curl_easy_init(void)
{
    static typeof(&curl_easy_init) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_easy_init");
    return function();
}

void curl_easy_cleanup(CURL *easy)
{
    static typeof(&curl_easy_cleanup) function;

    if (!easy) /* also where there is no library */
        return;
    if (!function)
        function = (typeof(function))curl_library_find("curl_easy_cleanup");
    function(easy);
}

CURLcode curl_easy_pause(CURL *easy, int bits)
{
    static typeof(&curl_easy_pause) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_easy_pause");
    return function(easy, bits);
}

CURLcode curl_easy_recv(CURL *easy, void *buffer, size_t length, size_t *received)
{
    static typeof(&curl_easy_recv) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_easy_recv");
    return function(easy, buffer, length, received);
}

CURLcode curl_easy_send(CURL *easy, const void *buffer, size_t length, size_t *sent)
{
    static typeof(&curl_easy_send) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_easy_send");
    return function(easy, buffer, length, sent);
}

const char *curl_easy_strerror(CURLcode code)
{
    static typeof(&curl_easy_strerror) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_easy_strerror");
    return function(code);
}

CURLHcode curl_easy_header(CURL *easy, const char *name, size_t index, unsigned origin, int request,
                           struct curl_header **ret)
{
    static typeof(&curl_easy_header) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_easy_header");
    return function(easy, name, index, origin, request, ret);
}

CURLM *curl_multi_init(void)
{
    static typeof(&curl_multi_init) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_multi_init");
    return function();
}

CURLMcode curl_multi_cleanup(CURLM *multi)
{
    static typeof(&curl_multi_cleanup) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_multi_cleanup");
    return function(multi);
}

CURLMcode curl_multi_add_handle(CURLM *multi, CURL *easy)
{
    static typeof(&curl_multi_add_handle) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_multi_add_handle");
    return function(multi, easy);
}

CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *easy)
{
    static typeof(&curl_multi_remove_handle) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_multi_remove_handle");
    return function(multi, easy);
}

CURLMcode curl_multi_assign(CURLM *multi, curl_socket_t fd, void *data)
{
    static typeof(&curl_multi_assign) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_multi_assign");
    return function(multi, fd, data);
}

CURLMsg *curl_multi_info_read(CURLM *multi, int *ret_left)
{
    static typeof(&curl_multi_info_read) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_multi_info_read");
    return function(multi, ret_left);
}

CURLMcode curl_multi_socket_action(CURLM *multi, curl_socket_t fd, int events, int *ret_running)
{
    static typeof(&curl_multi_socket_action) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_multi_socket_action");
    return function(multi, fd, events, ret_running);
}

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *string)
{
    static typeof(&curl_slist_append) function;

    if (!function)
        function = (typeof(function))curl_library_find("curl_slist_append");
    return function(list, string);
}

void curl_slist_free_all(struct curl_slist *list)
{
    static typeof(&curl_slist_free_all) function;

    if (!list) /* also where there is no library */
        return;
    if (!function)
        function = (typeof(function))curl_library_find("curl_slist_free_all");
    function(list);
}

/* The argument behind an option is a long, a curl_off_t or a pointer. All have the same size here
 * and are passed in the same way, so one type serves for all. */
static_assert(sizeof(long) == sizeof(void *) && sizeof(curl_off_t) == sizeof(void *),
              "arguments of options have one size");

CURLcode curl_easy_setopt(CURL *easy, CURLoption option, ...)
{
    static typeof(&curl_easy_setopt) function;
    va_list arguments;
    void *argument;

    if (!function)
        function = (typeof(function))curl_library_find("curl_easy_setopt");
    va_start(arguments, option);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    return function(easy, option, argument);
}

CURLMcode curl_multi_setopt(CURLM *multi, CURLMoption option, ...)
{
    static typeof(&curl_multi_setopt) function;
    va_list arguments;
    void *argument;

    if (!function)
        function = (typeof(function))curl_library_find("curl_multi_setopt");
    va_start(arguments, option);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    return function(multi, option, argument);
}

CURLcode curl_easy_getinfo(CURL *easy, CURLINFO option, ...)
{
    static typeof(&curl_easy_getinfo) function;
    va_list arguments;
    void *argument;

    if (!function)
        function = (typeof(function))curl_library_find("curl_easy_getinfo");
    va_start(arguments, option);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    return function(easy, option, argument);
}
