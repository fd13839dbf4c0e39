#include "environments/interpreter/base_python.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/untrusted.h"
#include "environments/interpreter/bundled_pip.h"
#include "environments/interpreter/interpreter.h"
#include "environments/interpreter/python_needs.h"
#include "environments/interpreter/script_places.h"
#include "environments/interpreter/tool_sandbox.h"
#include "environments/process/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FACTS_NAME    "facts.json"
#define PACKAGES_NAME "site-packages"
#define SYSTEM_PREFIX "/usr/"

enum {
    FORMAT = 5, /* of the facts; other ones are asked for anew */
    FACTS_BYTES = 64 * 1024,
};

/* The question is for every Python 3 and starts it without `site`: a .pth file or a sitecustomize
 * may lead to what scripts have written, and would say what is laid out in the scratch directory,
 * which is the argument. The packages of the interpreter are looked at, and not imported. */
static const char QUESTION[] =
    "import json, os, re, shutil, site, sys, sysconfig, zipfile\n"
    "\n"
    "def is_in_venv():\n"
    "    folder = os.path.dirname(sys.executable)\n"
    "    return any(os.path.isfile(os.path.join(place, 'pyvenv.cfg'))\n"
    "               for place in (folder, os.path.dirname(folder)))\n"
    "\n"
    "def executable():\n"
    "    if not is_in_venv():\n"
    "        return sys.executable\n"
    "    folder = os.path.join(sys.base_prefix, 'bin')\n"
    "    for path in (getattr(sys, '_base_executable', None),\n"
    "                 os.path.join(folder, 'python%d.%d' % sys.version_info[:2]),\n"
    "                 os.path.join(folder, 'python3')):\n"
    "        if path and path != sys.executable and os.access(path, os.X_OK):\n"
    "            return path\n"
    "    return sys.executable\n"
    "\n"
    "def packages():\n"
    "    known = sysconfig.get_scheme_names()\n"
    "    places = dict.fromkeys(('base', 'platbase', 'installed_base', 'installed_platbase'), '')\n"
    "    scheme = 'venv' if 'venv' in known else 'posix_prefix'\n"
    "    return sysconfig.get_path('purelib', scheme, places).lstrip('/')\n"
    "\n" BUNDLED_PIP_SOURCE "\n"
    "def bundled_pip():\n"
    "    try:\n"
    "        return find_bundled_pip()\n"
    "    except Exception:\n"
    "        return None\n"
    "\n"
    "def own_pip():\n"
    "    for folder in site.getsitepackages([sys.base_prefix]):\n"
    "        if not os.path.isfile(os.path.join(folder, 'pip', '__main__.py')):\n"
    "            continue\n"
    "        for name in os.listdir(folder):\n"
    "            stem, end = os.path.splitext(name)\n"
    "            if stem.startswith('pip-') and end in ('.dist-info', '.egg-info'):\n"
    "                return stem.split('-')[1]\n"
    "    return None\n"
    "\n" DEFAULT_INDEX_SOURCE "\n"
    "INDEX = '''PyPI.*?[\"'](https?://[^\"']+)[\"'].*?"
    "file_storage_domain *= *[\"']([^\"']+)[\"']'''\n"
    "\n"
    "def own_index():\n"
    "    own = os.path.join(os.path.dirname(os.path.dirname(sys.executable)), 'lib',\n"
    "                       'python%d.%d' % sys.version_info[:2], 'site-packages')\n"
    "    for folder in [own] + site.getsitepackages([sys.base_prefix]):\n"
    "        path = os.path.join(folder, 'pip', '_internal', 'models', 'index.py')\n"
    "        if os.path.isfile(path):\n"
    "            with open(path, 'rb') as file:\n"
    "                text = file.read(65536).decode('utf-8', 'replace')\n"
    "            found = re.search(INDEX, text, re.DOTALL)\n"
    "            return '%s https://%s/' % found.groups() if found else None\n"
    "    return None\n"
    "\n"
    "STARTER = '''# pip is the archive beside this file, which takes the place of hundreds of "
    "small "
    "ones.\n"
    "import os\n"
    "import zipimport\n"
    "_archive = os.path.join(os.path.dirname(os.path.abspath(__file__)), %r)\n"
    "__path__ = [os.path.join(_archive, 'pip')]\n"
    "__file__ = os.path.join(_archive, 'pip', '__init__.py')\n"
    "exec(zipimport.zipimporter(_archive).get_code('pip'))\n"
    "'''\n"
    "\n"
    "def lay_out(wheel, target, scripts):\n"
    "    name = os.path.basename(wheel)\n"
    "    version = name.split('-')[1]\n"
    "    information = 'pip-%s.dist-info' % version\n"
    "    files = {'pip/__init__.py': STARTER % name, information + '/INSTALLER': 'pip\\n'}\n"
    "    with zipfile.ZipFile(wheel) as archive:\n"
    "        for file in ('METADATA', 'WHEEL', 'entry_points.txt', 'top_level.txt'):\n"
    "            file = information + '/' + file\n"
    "            if file in archive.namelist():\n"
    "                files[file] = archive.read(file).decode('utf-8')\n"
    "    record = information + '/RECORD'\n"
    "    every = sorted(files) + [record, 'pip/' + name] + scripts\n"
    "    files[record] = ''.join('%s,,\\n' % file for file in every)\n"
    "    for folder in ('pip', information):\n"
    "        os.makedirs(os.path.join(target, folder))\n"
    "    for file in files:\n"
    "        with open(os.path.join(target, file), 'wb') as opened:\n"
    "            opened.write(files[file].encode('utf-8'))\n"
    "    shutil.copyfile(wheel, os.path.join(target, 'pip', name))\n"
    "    return version\n"
    "\n"
    "os.makedirs(os.path.join(sys.argv[1], 'site-packages'))\n"
    "facts = {'executable': executable(), 'version': sys.version.split()[0],\n"
    "         'packages': packages(), 'own_pip': own_pip()}\n"
    "wheel = bundled_pip()\n"
    "facts['index'] = default_index(wheel) if wheel else own_index()\n"
    "if wheel:\n"
    "    up = '/'.join('..' for part in facts['packages'].split('/'))\n"
    "    names = ('pip', 'pip3', 'pip%d.%d' % sys.version_info[:2])\n"
    "    facts['pip'] = lay_out(wheel, os.path.join(sys.argv[1], 'site-packages'),\n"
    "                           ['%s/bin/%s' % (up, name) for name in names])\n"
    "json.dump(facts, sys.stdout)\n";

void base_python_free(struct base_python *base)
{
    if (!base)
        return;
    free(base->candidate);
    free(base->executable);
    free(base->version);
    free(base->packages);
    free(base->pip);
    free(base->own_pip);
    free(base->index);
    free(base->claimed_index);
    free(base->folder);
    memory_free_strings(base->directories);
    free(base);
}

char *base_python_pip(const struct base_python *base)
{
    return memory_format("%s/" PACKAGES_NAME, base->folder);
}

/* Owned by the caller. */
static char *base_python_folder_of(const char *state, const char *candidate)
{
    char text[DIGEST_TEXT_BYTES];
    struct digest digest;

    digest_init(&digest);
    digest_add_string(&digest, candidate);
    digest_finish(&digest, text);
    return memory_format("%s/pythons/%.32s", state, text);
}

/* True for a path of one line without "..", absolute if FIRST is "/", else relative. */
static bool base_python_is_plain(const char *path, char first)
{
    return path && (*path == '/') == (first == '/') && *path && !strstr(path, "..") &&
           !strpbrk(path, "\r\n");
}

/* Reads FACTS. NULL when a required one is missing. */
static struct base_python *base_python_read_facts(const json_t *facts, const char *folder)
{
    const char *executable = json_object_get_string(facts, "executable");
    const char *version = json_object_get_string(facts, "version");
    const char *packages = json_object_get_string(facts, "packages");
    const char *pip = json_object_get_string(facts, "pip");
    const char *own_pip = json_object_get_string(facts, "own_pip");
    const char *index = json_object_get_string(facts, "index");
    const char *claimed = json_object_get_string(facts, "claimed_index");
    struct base_python *base;

    if (!base_python_is_plain(executable, '/') || !version || !base_python_is_plain(packages, 'l'))
        return NULL;
    base = NEW(struct base_python);
    base->executable = memory_copy_string(executable);
    base->version = memory_copy_string(version);
    base->packages = memory_copy_string(packages);
    base->pip = pip ? memory_copy_string(pip) : NULL;
    base->own_pip = own_pip ? memory_copy_string(own_pip) : NULL;
    base->index = index ? memory_copy_string(index) : NULL;
    base->claimed_index = claimed ? memory_copy_string(claimed) : NULL;
    base->folder = memory_copy_string(folder);
    return base;
}

static bool is_still_so(const struct base_python *base, const char *candidate)
{
    return file_identity_holds(&base->candidate_file, candidate) &&
           file_identity_holds(&base->executable_file, base->executable) && base->directories;
}

struct base_python *base_python_load(const char *state, const char *candidate)
{
    AUTO_FREE char *folder = base_python_folder_of(state, candidate);
    AUTO_FREE char *path = memory_format("%s/" FACTS_NAME, folder);
    AUTO_JSON json_t *facts = untrusted_load_json(AT_FDCWD, path, FACTS_BYTES);
    struct base_python *base = base_python_read_facts(facts, folder);

    if (!base || json_integer_value(json_object_get(facts, "format")) != FORMAT) {
        base_python_free(base);
        return NULL;
    }
    base->candidate = memory_copy_string(candidate);
    base->directories = python_directories_from_json(json_object_get(facts, "directories"));
    file_identity_from_json(&base->candidate_file, json_object_get(facts, "candidate_file"));
    file_identity_from_json(&base->executable_file, json_object_get(facts, "executable_file"));
    if (is_still_so(base, candidate))
        return base;
    base_python_free(base);
    return NULL;
}

static bool base_python_is_in_system(const char *path)
{
    AUTO_FREE char *real = realpath(path, NULL);

    return real && strncmp(real, SYSTEM_PREFIX, strlen(SYSTEM_PREFIX)) == 0;
}

/* Its name decides whether a Python is in a venv, and the file behind the name what runs. */
bool base_python_is_believed(const char *executable)
{
    AUTO_FREE char *folder = strndup(executable, (size_t)(strrchr(executable, '/') - executable));

    return base_python_is_in_system(folder) && base_python_is_in_system(executable);
}

/* It says in SCRATCH what venvs get. */
static const struct process_sandbox *base_python_confine(struct tool_sandbox *tool,
                                                         const struct interpreter *interpreter,
                                                         const char *scratch)
{
    tool_sandbox_init(tool, &interpreter->holding);
    if (!interpreter->holding.is_held)
        return NULL;
    tool_sandbox_show_program(tool, interpreter->executable,
                              (const char *const *)interpreter->directories);
    tool_sandbox_open(tool, scratch);
    return tool_sandbox_of(tool);
}

/* Its answer is laid out for all venvs. */
static int base_python_check(const struct interpreter *interpreter, struct error *err)
{
    const char *place = script_places_reach(interpreter->holding.written, interpreter->executable);

    if (!place)
        return 0;
    return error_set(err, ERROR_UNAVAILABLE,
                     "%s is reached through %s, where scripts can write: let the operator keep the "
                     "one outside of the other",
                     interpreter->executable, place);
}

struct subprocess *
base_python_ask(const struct interpreter *interpreter, const char *scratch, void *data,
                void (*ended)(void *data, const char *output, const struct error *err),
                struct error *err)
{
    const char *const arguments[] = {interpreter->executable, "-ISc", QUESTION, scratch, NULL};
    const char *const variables[] = {"LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin", NULL};
    AUTO(tool_sandbox_deinit) struct tool_sandbox tool;
    const struct subprocess_settings settings = {
        .host = interpreter->host,
        .name = interpreter->executable,
        .arguments = arguments,
        .variables = variables,
        .directory = scratch,
        .sandbox = base_python_confine(&tool, interpreter, scratch),
        .absent = interpreter->holding.absent,
        .data = data,
        .ended = ended,
    };

    if (base_python_check(interpreter, err) < 0)
        return NULL;
    return subprocess_start(&settings, err);
}

static int write_facts(json_t *facts, const struct base_python *base, const char *scratch,
                       struct error *err)
{
    AUTO_FREE char *path = memory_format("%s/" FACTS_NAME, scratch);
    AUTO_FREE char *text = NULL;

    json_object_set_new(facts, "format", json_integer(FORMAT));
    json_object_set_new(facts, "found_at",
                        json_string_repaired(base->candidate, strlen(base->candidate)));
    json_object_set_new(facts, "directories", python_directories_to_json(base->directories));
    json_object_set_new(facts, "candidate_file", file_identity_to_json(&base->candidate_file));
    json_object_set_new(facts, "executable_file", file_identity_to_json(&base->executable_file));
    text = json_text(facts);
    return fd_write_new_file(path, S_IRUSR | S_IWUSR, text, strlen(text), err);
}

/* Puts SCRATCH/kept into the place of FOLDER; what was there goes to SCRATCH. */
static int put_in_place(const char *folder, const char *scratch, struct error *err)
{
    AUTO_FREE char *kept = memory_format("%s/kept", scratch);
    AUTO_FREE char *before = memory_format("%s/before", scratch);
    AUTO_FREE char *parent = strndup(folder, (size_t)(strrchr(folder, '/') - folder));

    if (fd_make_directories(parent, S_IRWXU, err) < 0)
        return -1;
    if (rename(folder, before) < 0 && errno != ENOENT)
        return error_set_errno(err, errno, "cannot move %s", folder);
    if (rename(kept, folder) == 0 || errno == ENOTEMPTY || errno == EEXIST)
        return 0; /* or another server was faster */
    return error_set_errno(err, errno, "cannot make %s", folder);
}

static int base_python_keep_facts(json_t *facts, const struct base_python *base,
                                  const char *scratch, struct error *err)
{
    AUTO_FREE char *packages = memory_format("%s/" PACKAGES_NAME, scratch);
    AUTO_FREE char *kept = memory_format("%s/kept", scratch);
    AUTO_FREE char *target = memory_format("%s/" PACKAGES_NAME, kept);

    if (fd_make_directories(kept, S_IRWXU, err) < 0)
        return -1;
    if (rename(packages, target) < 0)
        return error_set_errno(err, errno, "cannot move %s", packages);
    if (write_facts(facts, base, kept, err) < 0)
        return -1;
    return put_in_place(base->folder, scratch, err);
}

struct base_python *base_python_keep(const char *state, const struct interpreter *interpreter,
                                     const char *output, const char *scratch, struct error *err)
{
    AUTO_FREE char *folder = base_python_folder_of(state, interpreter->candidate);
    AUTO_JSON json_t *facts = json_loads(output, 0, NULL);
    struct base_python *base = base_python_read_facts(facts, folder);

    if (!base) {
        error_set(err, ERROR_UNAVAILABLE, "%s gave no valid description of itself",
                  interpreter->executable);
        return NULL;
    }
    if (!base_python_is_believed(interpreter->executable)) {
        json_object_del(facts, "index");
        free(base->claimed_index);
        base->claimed_index = STEAL_PTR(base->index);
        json_object_set_new(facts, "claimed_index",
                            base->claimed_index ? json_string(base->claimed_index) : json_null());
    }
    base->candidate = memory_copy_string(interpreter->candidate);
    base->directories = memory_copy_strings((const char *const *)interpreter->directories);
    base->candidate_file = interpreter->candidate_file;
    file_identity_read(&base->executable_file, base->executable);
    if (base_python_keep_facts(facts, base, scratch, err) == 0)
        return base;
    base_python_free(base);
    return NULL;
}

/* The index of the machine's own Python */

static const char SYSTEM_INDEX_QUESTION[] = "import site, sys\n"
                                            "\n" BUNDLED_PIP_SOURCE "\n" DEFAULT_INDEX_SOURCE "\n"
                                            "try:\n"
                                            "    wheel = find_bundled_pip()\n"
                                            "except Exception:\n"
                                            "    wheel = None\n"
                                            "sys.path += site.getsitepackages()\n"
                                            "print(default_index(wheel) or '')\n";

static const char *system_index_python(void)
{
    static const char *const pythons[] = {"/usr/bin/python3", "/usr/local/bin/python3"};

    for (size_t i = 0; i < ARRAY_SIZE(pythons); i++)
        if (access(pythons[i], X_OK) == 0 && base_python_is_believed(pythons[i]))
            return pythons[i];
    return NULL;
}

struct subprocess *
system_index_ask(struct process_host *host, const struct tool_holding *holding, void *data,
                 void (*ended)(void *data, const char *output, const struct error *err),
                 struct error *err)
{
    const char *python = system_index_python();
    const char *const arguments[] = {python, "-ISc", SYSTEM_INDEX_QUESTION, NULL};
    const char *const variables[] = {"LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin", NULL};
    AUTO(tool_sandbox_deinit) struct tool_sandbox tool;
    struct subprocess_settings settings = {
        .host = host,
        .name = python,
        .arguments = arguments,
        .variables = variables,
        .directory = "/",
        .absent = holding->absent,
        .data = data,
        .ended = ended,
    };

    tool_sandbox_init(&tool, holding);
    if (!python)
        return NULL;
    tool_sandbox_show_program(&tool, python, NULL);
    settings.sandbox = tool_sandbox_of(&tool);
    return subprocess_start(&settings, err);
}
