"""Claude Code, Codex and Gemini CLI, each as people have it, with a stand-in for its model.

    with standin.Model(steps) as model:
        agents.Claude(home, model.url).converse(server)

SERVER is a command, which the agent then starts (stdio), or a URL. An agent has a home of its own,
reports nothing and looks for no updates. Whatever it should try to reach beyond loopback goes to
the stand-in as to a proxy, which refuses and remembers it.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess

import installed

SECONDS = 300  # for a whole conversation, on a busy machine
SERVER = "python"
PROMPT = "Go on."


class Agent:
    program = None  # as npm calls it

    def __init__(self, home, api):
        self.home = pathlib.Path(home)
        self.api = api
        self.log = self.home / "output.log"

    def converse(self, server):
        """Runs the agent to its end."""
        program = installed.node_program(self.program)
        (self.home / "tmp").mkdir()
        self.configure(server)
        with open(self.log, "wb") as log:
            process = subprocess.Popen([program, *self.arguments()], env=self.environment(),
                                       cwd=self.home, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, start_new_session=True)
            try:
                status = process.wait(SECONDS)
            finally:
                end_group(process)
        assert status == 0, self.said()

    def environment(self):
        return {"HOME": str(self.home), "TMPDIR": str(self.home / "tmp"), "LANG": "C.UTF-8",
                "PATH": f"{installed.DEPS / 'node' / 'bin'}:{os.environ['PATH']}",
                "HTTPS_PROXY": self.api, "HTTP_PROXY": self.api,
                "NO_PROXY": "127.0.0.1,localhost", **self.variables()}

    def said(self):
        return self.log.read_text(errors="replace")

    def write(self, name, text):
        path = self.home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def variables(self):
        return {}


def end_group(process):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Claude(Agent):
    program = "claude"

    def configure(self, server):
        way = {"type": "http", "url": server} if is_url(server) else {
            "command": server[0], "args": server[1:]}
        self.write("servers.json", json.dumps({"mcpServers": {SERVER: way}}))

    def arguments(self):
        return ["--print", PROMPT, "--mcp-config", str(self.home / "servers.json"),
                "--strict-mcp-config", "--allowedTools",
                f"mcp__{SERVER}__run_python,mcp__{SERVER}__run_code_blocks"]

    def variables(self):
        return {"ANTHROPIC_BASE_URL": self.api, "ANTHROPIC_API_KEY": "none",
                "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
                "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


class Codex(Agent):
    program = "codex"

    def configure(self, server):
        way = f"url = {json.dumps(server)}" if is_url(server) else (
            f"command = {json.dumps(server[0])}\nargs = {json.dumps(server[1:])}")
        self.write(".codex/config.toml", f"""
model = "gpt-5.1-codex"
model_provider = "standin"
check_for_update_on_startup = false
[model_providers.standin]
name = "standin"
base_url = "{self.api}/v1"
wire_api = "responses"
[analytics]
enabled = false
[features]
plugins = false
apps = false
[mcp_servers.{SERVER}]
{way}
""")

    def arguments(self):
        return ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT]


class Gemini(Agent):
    program = "gemini"

    def configure(self, server):
        way = {"httpUrl": server} if is_url(server) else {"command": server[0], "args": server[1:]}
        self.write(".gemini/settings.json", json.dumps({
            "mcpServers": {SERVER: {**way, "trust": True}},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "model": {"disableLoopDetection": True},  # after 30 calls it asks the model, of which ours knows nothing
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "security": {"auth": {"selectedType": "gemini-api-key"}},
        }))

    def arguments(self):
        return ["--prompt", PROMPT, "--yolo", "--model", "gemini-2.5-flash"]

    def variables(self):
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": self.api,
                "GEMINI_CLI_TRUST_WORKSPACE": "true"}


def is_url(server):
    return isinstance(server, str)


ALL = [Claude, Codex, Gemini]
