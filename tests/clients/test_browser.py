"""Web pages in a real browser, Debian's chromium: which of them can run code here.

A page is shown by a server of its own and tells a reporter, another server, what it was answered.
Names such as evil.example are this machine's only within the browser.
"""

import contextlib
import http.server
import json
import os
import queue
import shutil
import subprocess
import threading

import http_server
import ports
import pytest

TRUSTED, EVIL = "trusted.example", "evil.example"
PATIENCE = 180

# Asks for PLACE to be written, once as a request that stands alone, once in a session. While nobody
# answers, it goes on: its own server may be replaced by another one, which is how rebinding works.
PAGE = """<!doctype html><script>
const endpoint = ENDPOINT, reporter = REPORTER;
const code = 'open(PLACE, "a").write("run ")';
const call = { name: 'run_python', arguments: { code } };
const P = 'io.modelcontextprotocol/';
const envelope = { [P + 'protocolVersion']: '2026-07-28', [P + 'clientCapabilities']: {} };
const pause = (time) => new Promise((done) => setTimeout(done, time));

async function post(method, params, headers = {}) {
  const answer = await fetch(endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json',
               Accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return { status: answer.status, text: await answer.text(),
           session: answer.headers.get('Mcp-Session-Id') };
}

async function alone() {
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call',
                    'Mcp-Name': 'run_python' };
  return post('tools/call', { ...call, _meta: envelope }, headers);
}

async function inSession() {
  const { session } = await post('initialize', { protocolVersion: '2025-11-25', capabilities: {},
                                                 clientInfo: { name: 'page', version: '1' } });
  return post('tools/call', call, { 'Mcp-Session-Id': session,
                                    'MCP-Protocol-Version': '2025-11-25' });
}

// Sent without asking anybody first; its answer can never be read.
async function blindly() {
  await fetch(endpoint, { method: 'POST', mode: 'no-cors', headers: { 'Content-Type': 'text/plain' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call',
                           params: { ...call, _meta: envelope } }) });
}

async function attempt(way) {
  for (let tries = TRIES; tries > 0; tries--) {
    try {
      return await way();
    } catch {
      await pause(100);
    }
  }
  return { status: 0 };
}

(async () => {
  const seen = [await attempt(alone), await attempt(inSession)];
  await attempt(blindly);
  await fetch(reporter, { method: 'POST', mode: 'no-cors', body: JSON.stringify(seen) });
})();
</script>"""


class Handler(http.server.BaseHTTPRequestHandler):
    """Shows the server's page; without one, keeps what is sent to it."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.server.page.encode())
        self.server.events.put("shown")

    def do_POST(self):
        if self.server.page:
            return  # closed without an answer
        self.server.events.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def web_server(page="", port=0):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.page = page
    server.events = queue.Queue()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def browser(url, home):
    """Chromium showing URL."""
    program = shutil.which("chromium")
    if not program:
        pytest.skip("no chromium: ./dev deps installs it")
    command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
               "--disable-background-networking", "--disable-dev-shm-usage", "--no-proxy-server",
               f"--user-data-dir={home / 'profile'}",
               "--host-resolver-rules=MAP *.example 127.0.0.1, MAP * ~NOTFOUND, "
               "EXCLUDE 127.0.0.1", url]
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def page(endpoint, reporter, place, tries=1):
    """The page, which calls ENDPOINT and gives up after TRIES that nobody answers."""
    values = {"ENDPOINT": json.dumps(endpoint), "PLACE": f'"{place}"', "TRIES": str(tries),
              "REPORTER": json.dumps(f"http://127.0.0.1:{reporter.server_port}/")}
    text = PAGE
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def writing_into(folder):
    folder.mkdir(exist_ok=True)
    return {"system": {"type": "system", "write": [str(folder)]}}


def seen_by_page_of(name, tmp_path):
    """What a page of http://NAME sees of a server that trusts pages of TRUSTED only."""
    with web_server() as reporter, web_server() as site:
        trusted = f"http://{TRUSTED}:{site.server_port}"
        with http_server.served(tmp_path, http={"allowed_origins": [trusted]},
                                environments=writing_into(tmp_path / "pages")) as url:
            site.page = page(url, reporter, tmp_path / "pages/written")
            with browser(f"http://{name}:{site.server_port}/", tmp_path):
                return reporter.events.get(timeout=PATIENCE)


def test_a_page_of_an_allowed_origin_can_call(tmp_path):
    alone, in_session = seen_by_page_of(TRUSTED, tmp_path)
    assert alone["status"] == 200 and json.loads(alone["text"])["result"]["resultType"] == "complete"
    assert in_session["status"] == 200
    assert (tmp_path / "pages/written").read_text() == "run run "


def test_a_page_of_another_origin_cannot(tmp_path):
    """Chromium asks before it sends, and the server does not let it; what needs no asking is refused."""
    alone, in_session = seen_by_page_of(EVIL, tmp_path)
    assert (alone["status"], in_session["status"]) == (0, 0)
    assert not (tmp_path / "pages/written").exists()


def test_a_page_whose_name_is_rebound_to_the_server_cannot(tmp_path):
    """The browser takes the server for the page's own: same name, same port, nothing to ask."""
    with contextlib.ExitStack() as browsers, web_server() as reporter:
        port = ports.free_port()  # none that a connection of anybody may be given meanwhile
        with web_server(port=port) as site:
            site.page = page("/mcp", reporter, tmp_path / "pages/written", tries=PATIENCE * 10)
            browsers.enter_context(browser(f"http://{EVIL}:{port}/", tmp_path))
            site.events.get(timeout=PATIENCE)
        with http_server.served(tmp_path, port=port, environments=writing_into(tmp_path / "pages")):
            alone, in_session = reporter.events.get(timeout=PATIENCE)
    assert (alone["status"], in_session["status"]) == (421, 421)
    assert not (tmp_path / "pages/written").exists()
