#include "server/commands/help.h"

#include "base/memory.h"

#include <string.h>

static const char program_page[] =
    "Usage: pyexecd [OPTION]...                      serve MCP to the program that starts it\n"
    "       pyexecd serve [OPTION]...                serve MCP, also over HTTP and sockets\n"
    "       pyexecd run [OPTION]... FILE|-|-c CODE   run a script in the current directory\n"
    "       pyexecd map [OPTION]... FILE [INPUTS]    run a script once for each line of a file\n"
    "       pyexecd call [OPTION]...                 answer one tool call of a model\n"
    "       pyexecd prepare [OPTION]... [NAME]...    prepare environments for calls\n"
    "       pyexecd doctor [OPTION]...               show what this machine provides\n"
    "       pyexecd schema [OPTION]...               print the tool for function calling\n"
    "       pyexecd token [OPTION]... NAME           make a token for a client\n"
    "       pyexecd install|uninstall [CLIENT]       add pyexecd to a client, or remove it\n"
    "       pyexecd tools [OPTION]...                list and call the tools of other servers\n"
    "       pyexecd config init [FILE]               write a configuration to begin with\n"
    "       pyexecd --check-config [FILE]            check the configuration\n"
    "       pyexecd completions bash|zsh|fish        print what completes command lines\n"
    "       pyexecd help [COMMAND]                   explain a command\n"
    "\n"
    "Runs the Python that language models write.\n"
    "\n"
    "  -c, --config FILE        the configuration, instead of $PYEXECD_CONFIG,\n"
    "                           ~/.config/pyexecd/config.yaml, /etc/pyexecd/config.yaml\n"
    "  -l, --listen ADDRESS     where to serve; `pyexecd help serve` has more such options\n"
    "      --log-level LEVEL    error, warning (default), info or debug\n"
    "  -h, --help               print this and exit\n"
    "  -V, --version            print the version and exit\n";

static const char serve_page[] =
    "Usage: pyexecd [serve] [OPTION]...\n"
    "\n"
    "Serves MCP: on standard input and output, or at the addresses of the configuration or of\n"
    "the command line. At a terminal it says what to write into the settings of a client.\n"
    "\n"
    "  -l, --listen ADDRESS     stdio, unix:PATH, tcp:HOST:PORT, systemd or\n"
    "                           http[s]://HOST:PORT/mcp, instead of the configured\n"
    "                           addresses; may be repeated\n"
    "      --http [PORT]        the same as --listen http://127.0.0.1:PORT/mcp, or port 8808\n"
    "      --token-file FILE    the tokens of clients, instead of those of the configuration;\n"
    "                           `pyexecd token NAME --add FILE` makes one\n"
    "      --project DIR        over stdio: a folder that scripts may read\n"
    "      --results FORM       text (default) or structured: what clients get\n"
    "  -c, --config FILE        the configuration\n"
    "      --log-level LEVEL    error, warning (default), info or debug\n";

static const char run_page[] =
    "Usage: pyexecd run [OPTION]... FILE [ARGUMENT...]\n"
    "       pyexecd run [OPTION]... - [ARGUMENT...]            the script is standard input\n"
    "       pyexecd run [OPTION]... -c CODE [-- ARGUMENT...]\n"
    "\n"
    "Runs a script as a call would, and ends with its exit code. It works in the current\n"
    "directory, or, where it would have no sandbox (your home), in a temporary one. pyexecd\n"
    "itself overwrites nothing. A block `# /// script` names the packages that it needs.\n"
    "\n"
    "  -c, --code CODE               the script itself\n"
    "  -w, --working-directory DIR   work there, even without a sandbox; `temporary` is a\n"
    "                                new directory, and its handle that one again\n"
    "  -e, --env NAME                the environment, instead of the default one\n"
    "      --with PACKAGE            in a virtual environment with it; may be repeated\n"
    "      --python PYTHON           in this Python: a version such as 3.11, a path such as\n"
    "                                .venv, or a name on PATH such as python3.12\n"
    "      --require sandbox         run nothing without every layer of a sandbox\n"
    "  -t, --timeout SECONDS         the time limit\n"
    "  -j, --json                    print the structured result instead of the output\n"
    "      --config FILE             the configuration\n"
    "      --log-level LEVEL         error, warning (default), info or debug\n"
    "\n"
    "Exit status: that of the script; 124 after a timeout, 128+N after signal N.\n";

static const char map_page[] =
    "Usage: pyexecd map [OPTION]... FILE [INPUTS]\n"
    "\n"
    "Runs a script once for each line of INPUTS, which is JSON, several at a time. The script\n"
    "defines main(input); what that returns, unless None, is printed as JSON. INPUTS is a\n"
    "file, or standard input. Each result is a line of JSON on standard output, as it comes:\n"
    "that of `pyexecd run --json`, with the index of its input, from 0 and without blank\n"
    "lines. A run that fails costs only itself.\n"
    "\n"
    "  -j, --parallel N              runs at a time, instead of the configured number\n"
    "  -t, --timeout SECONDS         the time limit of each run\n"
    "  -w, --working-directory DIR   as for `pyexecd run`; all runs work there and list what is\n"
    "                                new; `temporary` is faster than a folder of many files\n"
    "  -e, --env NAME                the environment, instead of the default one\n"
    "      --with PACKAGE            in a virtual environment with it; may be repeated\n"
    "      --python PYTHON           in this Python: a version such as 3.11, a path such as\n"
    "                                .venv, or a name on PATH such as python3.12\n"
    "      --require sandbox         run nothing without every layer of a sandbox\n"
    "      --config FILE             the configuration\n"
    "      --log-level LEVEL         error, warning (default), info or debug\n"
    "\n"
    "Exit status: 0 if all runs have succeeded, 1 if one has not, 128+N after signal N; and as\n"
    "pyexecd(1) says: 64 for the command line, 65 without main, 66 without a file, 69 if the\n"
    "environment cannot be had, 74 if output cannot be written, 78 for the configuration.\n";

static const char call_page[] =
    "Usage: pyexecd call [OPTION]...\n"
    "\n"
    "Reads one tool call of a model on standard input, as the provider's API has it, and\n"
    "prints the tool result that goes back to the API. Every failure is such a result, too.\n"
    "`pyexecd schema --provider NAME` prints the tool that the request has to declare.\n"
    "\n"
    "  -p, --provider NAME           openai, openai-responses, anthropic or gemini; usually\n"
    "                                told by the call itself\n"
    "  -w, --working-directory DIR   every call works there. Without it each call gets a new\n"
    "                                directory, whose handle stands in the result: the model\n"
    "                                returns to it by the argument working_directory\n"
    "  -c, --config FILE             the configuration\n"
    "      --log-level LEVEL         error, warning (default), info or debug\n"
    "\n"
    "Exit status: 0 whenever a tool result was printed.\n";

static const char prepare_page[] =
    "Usage: pyexecd prepare [OPTION]... [NAME]...\n"
    "\n"
    "Prepares the environments NAME, or all: makes virtual environments, pulls and builds\n"
    "images, installs packages, so that no call has to wait for that.\n"
    "\n"
    "  -j, --json               print an array at the end, an object for each environment\n"
    "  -c, --config FILE        the configuration\n"
    "      --log-level LEVEL    error, warning (default), info or debug\n";

static const char node_page[] =
    "Usage: pyexecd node [OPTION]...\n"
    "\n"
    "Prepares environments and executes code for a server, which has started it on another\n"
    "machine by the launcher in its configuration (nodes), and holds its standard input and\n"
    "output. The end of its input ends it, with everything that it has started.\n"
    "\n"
    "      --log-level LEVEL    error, warning (default), info or debug\n";

static const char doctor_page[] =
    "Usage: pyexecd doctor [OPTION]...\n"
    "\n"
    "Shows what this machine provides, what is missing and what follows from that, and runs\n"
    "one line of Python in each environment.\n"
    "\n"
    "  -c, --config FILE        the configuration\n"
    "      --log-level LEVEL    error, warning (default), info or debug\n";

static const char schema_page[] =
    "Usage: pyexecd schema [OPTION]...\n"
    "\n"
    "Prints the tool as a provider's function calling wants it declared.\n"
    "\n"
    "  -p, --provider NAME      mcp (default), openai, openai-responses, anthropic or gemini;\n"
    "      --for NAME           the same\n"
    "      --results FORM       text (default) or structured: for mcp, with its output schema\n"
    "  -c, --config FILE        the configuration\n"
    "      --log-level LEVEL    error, warning (default), info or debug\n";

static const char token_page[] =
    "Usage: pyexecd token [OPTION]... NAME\n"
    "\n"
    "Makes a token for the client NAME and prints it, with its line for the token file. The\n"
    "token itself is not stored.\n"
    "\n"
    "      --add FILE           add the line to FILE, which is made if it is not there\n"
    "  -j, --json               print an object with name, token and line\n";

static const char config_page[] =
    "Usage: pyexecd config init [FILE]\n"
    "\n"
    "Writes a configuration that explains the keys and sets none, to FILE or to\n"
    "~/.config/pyexecd/config.yaml. A file that is there stays as it is.\n"
    "\n"
    "      --log-level LEVEL    error, warning (default), info or debug\n";

static const char completions_page[] =
    "Usage: pyexecd completions bash|zsh|fish\n"
    "\n"
    "Prints the file by which a shell completes command lines. Once for all shells to come:\n"
    "\n"
    "  bash: pyexecd completions bash > ~/.local/share/bash-completion/completions/pyexecd\n"
    "  fish: pyexecd completions fish > ~/.config/fish/completions/pyexecd.fish\n"
    "  zsh:  pyexecd completions zsh > DIR/_pyexecd, a DIR in its fpath\n"
    "\n"
    "      --log-level LEVEL    error, warning (default), info or debug\n";

static const char install_page[] =
    "Usage: pyexecd install [OPTION]... [CLIENT]\n"
    "\n"
    "Adds pyexecd to the settings of a client on this machine. What is there stays as it is,\n"
    "and a copy of it in FILE.pyexecd-backup. Without CLIENT: lists the clients.\n"
    "\n"
    "      --client CLIENT      claude-code, claude-desktop, cursor, vscode, windsurf, codex,\n"
    "                           gemini, zed, opencode or goose; the same as CLIENT alone\n"
    "      --http URL           the client connects to this server instead of starting one\n"
    "      --project DIR        scripts may read this folder\n"
    "      --allow              claude-code: calls the tools without asking\n"
    "      --check              write nothing: is the entry there, and does what it starts "
    "answer?\n"
    "      --dry-run            say what would be written, and write nothing\n"
    "  -c, --config FILE        the configuration that the client starts pyexecd with\n"
    "      --log-level LEVEL    error, warning (default), info or debug\n";

static const char uninstall_page[] =
    "Usage: pyexecd uninstall [OPTION]... [CLIENT]\n"
    "\n"
    "Removes pyexecd from the settings of a client. Without CLIENT: lists the clients.\n"
    "\n"
    "      --client CLIENT      as for `pyexecd install`\n"
    "      --dry-run            say what would be written, and write nothing\n"
    "      --log-level LEVEL    error, warning (default), info or debug\n";

static const char tools_page[] =
    "Usage: pyexecd tools [OPTION]... [list]\n"
    "       pyexecd tools [OPTION]... describe SERVER.TOOL\n"
    "       pyexecd tools [OPTION]... call SERVER.TOOL [JSON]\n"
    "\n"
    "Lists, describes and calls the tools of the servers in `tools` of the configuration, as\n"
    "scripts may. JSON is an object, the arguments; the result is printed as it came. Nobody\n"
    "is asked for approval.\n"
    "\n"
    "  -j, --json               list: print an array of all that is known of the tools\n"
    "  -c, --config FILE        the configuration\n"
    "      --log-level LEVEL    error, warning (default), info or debug\n"
    "\n"
    "Exit status: 0; 1 if the tool has failed; 69 if a server cannot be reached.\n";

const char *help_page(const char *command)
{
    static const struct {
        const char *command;
        const char *page;
    } pages[] = {
        {"run", run_page},         {"map", map_page},         {"call", call_page},
        {"prepare", prepare_page}, {"doctor", doctor_page},   {"schema", schema_page},
        {"token", token_page},     {"install", install_page}, {"uninstall", uninstall_page},
        {"config", config_page},   {"serve", serve_page},     {"completions", completions_page},
        {"node", node_page},       {"tools", tools_page},
    };

    for (size_t i = 0; command && i < ARRAY_SIZE(pages); i++)
        if (strcmp(pages[i].command, command) == 0)
            return pages[i].page;
    return program_page;
}
