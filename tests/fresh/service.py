"""Types docs/service.md, as it is written, on a machine with systemd, and looks at what comes of it.

    service.py 12|13 PACKAGE.deb
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

import host
import machine
import roots
import served

import leftovers  # found by machine.py

PAGE = (machine.ROOT / "docs/service.md").read_text()
SECTION = re.compile(r"^## (.*?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = "python.example.org"
LIVE = f"/etc/letsencrypt/live/{NAME}"
TOKEN = re.compile(r"^    ([0-9a-f]{64})$", re.MULTILINE)
CURL = "curl -sS --cacert /srv/trusted.pem"
SECONDS = 60
OTHERS = "curl openssl ca-certificates nginx haproxy caddy libpam-systemd dbus dbus-user-session polkitd"
CERTIFICATE = f"""
mkdir -p {LIVE} /etc/letsencrypt/renewal-hooks/deploy
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN={NAME} \\
    -addext subjectAltName=DNS:{NAME} -keyout {LIVE}/privkey.pem -out {LIVE}/fullchain.pem 2>/dev/null
cp {LIVE}/fullchain.pem /srv/trusted.pem
"""
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "curl", "version": "1"}}}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


def blocks(section, language="sh"):
    """The blocks in LANGUAGE of a SECTION of the page."""
    (text,) = [text for title, text in SECTION.findall(PAGE) if title == section]
    return [block for kind, block in BLOCK.findall(text) if kind == language]


def has_result(answer):
    return "Code output: 42" in json.loads(answer)["result"]["content"][0]["text"]


class Team:
    """The service on COMPUTER, as an operator and the users see it."""

    def __init__(self, computer):
        self.computer = computer
        self.typed = computer.typed
        self.call = blocks("Start")[1].replace("curl", CURL, 1)

    def type_block(self, section, number=0):
        return self.typed(blocks(section)[number])

    def make_token(self, section, number):
        return TOKEN.findall(self.type_block(section, number))

    def asked(self, token, message, session=None):
        """Status, session and text of the answer to MESSAGE, sent by somebody who trusts the certificate."""
        fields = [f"Authorization: Bearer {token}", "Content-Type: application/json",
                  "Accept: application/json, text/event-stream", *([f"Mcp-Session-Id: {session}"] if session else [])]
        words = " ".join(f"-H '{field}'" for field in fields)
        said = self.typed(f"{CURL} -i https://{NAME}/mcp {words} -d '{json.dumps(message)}'", user="nobody")
        found = re.search(r"^mcp-session-id: (\S+)", said, re.MULTILINE | re.IGNORECASE)
        return int(said.split()[1]), found and found.group(1), said

    def is_served(self, token, session):
        return self.asked(token, PING, session)[0] == 200

    def opens_session(self, token):
        status, session, said = self.asked(token, INITIALIZE)
        assert status == 200 and session, said
        return session

    def runs(self, token):
        """The answer to the call of the page."""
        return self.typed(self.call, user="nobody", TOKEN=token)


def install(computer, package):
    """With the network of the machine that all this runs on."""
    (computer.root / "srv" / pathlib.Path(package).name).write_bytes(pathlib.Path(package).read_bytes())
    command = blocks("Install")[0].replace("apt install", "apt-get -q install -y --no-install-recommends")
    status = computer.run(
        ["sh", "-ec", f"apt-get -q update; apt-get -q install -y --no-install-recommends {OTHERS}\n{command}"], "/srv",
        lambda text: print(text, end=""), {**host.environment(), "DEBIAN_FRONTEND": "noninteractive"})
    assert status == 0
    with (computer.root / "etc/hosts").open("a") as hosts:
        hosts.write(f"{served.ADDRESS} {NAME}\n")


def serve_two(team):
    """From the installed package to the first calls of two users; their tokens."""
    team.typed(CERTIFICATE)
    team.type_block("Install", 1)
    tokens = team.make_token("Tokens", 0)
    team.type_block("TLS")
    team.type_block("Start")
    for token in tokens:
        assert has_result(team.runs(token))
    assert team.asked("0" * 64, INITIALIZE)[0] == 401
    return tokens


def replace_token(team, old):
    """While ada has a session."""
    session = team.opens_session(old)
    (new,) = team.make_token("Tokens", 1)
    assert leftovers.until(lambda: team.is_served(new, session), SECONDS) and team.is_served(old, session)
    team.type_block("Tokens", 2)
    assert leftovers.until(lambda: not team.is_served(old, session), SECONDS) and team.is_served(new, session)
    return new, session


def replace_certificate(team, token, session):
    """The old certificate is trusted no more."""
    team.typed(CERTIFICATE)
    team.typed("/etc/letsencrypt/renewal-hooks/deploy/pyexecd")
    assert leftovers.until(lambda: team.computer.tried(f"{CURL} https://{NAME}/mcp").returncode == 0, SECONDS)
    assert team.is_served(token, session)


def look_at_metrics(team, folder):
    (rules,) = blocks("Metrics and log", "yaml")
    file = folder / "rules.yml"
    file.write_text(rules)
    subprocess.run(["promtool", "check", "rules", file], check=True)
    metrics = team.typed("curl -sS 127.0.0.1:9808/metrics")
    for name in set(re.findall(r"pyexecd_\w+", rules)):
        assert re.search(rf"^# TYPE {name} ", metrics, re.MULTILINE), name


def look_at_log(team):
    calls = [json.loads(line) for line in team.type_block("Metrics and log").splitlines()]
    assert {call["principal"] for call in calls} == {"ada"} and "run_python" in {call["tool"] for call in calls}


def move_port(team, token):
    """To another one, and back, as `systemctl edit` and the commands of the page do."""
    change = "/etc/systemd/system/pyexecd-https.socket.d"
    restart = "systemctl stop pyexecd-https.socket pyexecd && systemctl start pyexecd-https.socket pyexecd"
    assert restart in " ".join(PAGE.split())
    team.typed(f"mkdir {change}; printf '[Socket]\\nListenStream=\\nListenStream=8443\\n' >{change}/override.conf")
    team.typed(f"systemctl daemon-reload; {restart}")
    assert has_result(team.typed(team.call.replace(NAME, f"{NAME}:8443"), user="nobody", TOKEN=token))
    team.typed(f"rm -r {change}; systemctl daemon-reload; {restart}")


def upgrade(team, token):
    """To the same version, whose files are new."""
    before = team.typed("systemctl show --property=MainPID pyexecd")
    team.typed(blocks("Care")[0].replace("apt install", "cd /srv && dpkg --install"))
    assert team.typed("systemctl show --property=MainPID pyexecd") != before
    assert has_result(team.runs(token))


def delete_all(team, token):
    """What the service has written goes, and it serves as before."""
    written = "find /var/lib/pyexecd/ -mindepth 1 | head -1"
    assert team.typed(written)
    team.type_block("Care", 1)
    assert has_result(team.runs(token))


def stop(team, token):
    """Nothing is left but the files, also of a script that runs."""
    daemon = "grep -lx sleep /proc/[0-9]*/comm"
    call = team.call.replace("print(6 * 7)", r'import os; os.system(\"setsid sleep 600\")')
    team.typed(f"({call}) >/srv/ended 2>&1 &", TOKEN=token)
    assert leftovers.until(lambda: team.computer.tried(daemon).returncode == 0, SECONDS)
    team.type_block("Care", 2)
    assert team.computer.tried(daemon).returncode != 0
    assert not team.typed("systemctl list-units --no-legend --plain 'pyexecd*'")
    assert not team.typed("find /proc -maxdepth 1 -user pyexecd")
    assert not team.typed("find /sys/fs/cgroup /run -name '*pyexecd*' -not -path '/run/systemd/*'")


PROXIES = {
    "caddy": ("/etc/caddy/Caddyfile", "caddy validate --config /etc/caddy/Caddyfile"),
    "nginx": ("/etc/nginx/sites-enabled/pyexecd", "nginx -t"),
    "haproxy": ("/etc/haproxy/haproxy.cfg", "haproxy -c -f /etc/haproxy/haproxy.cfg"),
}
OF_CADDY = ("/etc/caddy/fullchain.pem", "/etc/caddy/privkey.pem")


def serve_behind(team, proxy, token):
    """With the settings of the page alone; but Caddy, which gets its certificate over the Internet, is given one."""
    place, check = PROXIES[proxy]
    (settings,) = blocks("Behind a proxy", proxy)
    if proxy == "caddy":
        settings = settings.replace("{", f"{{\n\ttls {' '.join(OF_CADDY)}", 1)
    (team.computer.root / place.lstrip("/")).write_text(settings)
    team.typed(check)
    team.typed(f"systemctl start {proxy}")
    assert has_result(team.runs(token)) and team.is_served(token, team.opens_session(token))
    team.typed(f"systemctl stop {proxy}")


def serve_behind_proxies(team, token):
    team.typed("sed -i /^tls:/d /etc/pyexecd/config.yaml")
    team.type_block("Behind a proxy")
    team.typed(f"cat {LIVE}/fullchain.pem {LIVE}/privkey.pem >/etc/haproxy/python.pem")
    team.typed(f"install -o caddy {LIVE}/fullchain.pem {LIVE}/privkey.pem /etc/caddy/")
    for proxy in PROXIES:
        serve_behind(team, proxy, token)


AS_EVE = "systemd-run --quiet --wait --pipe --uid=eve --setenv=HOME=/home/eve --working-directory=/home/eve"


def remedies(team):
    """The commands that `pyexecd doctor` names to eve, who is not logged in."""
    said = team.typed(f"{AS_EVE} pyexecd doctor")
    assert "no   cgroup.kill" in said
    return re.search(r"gives more +(.*)", said).group(1).split(", then ")


def try_remedies(team):
    team.typed("useradd -m eve")
    first, second = remedies(team)
    team.typed(f"{AS_EVE} {first}")
    is_there = "test -S /run/user/$(id -u eve)/systemd/private"
    assert leftovers.until(lambda: team.computer.tried(is_there).returncode == 0, SECONDS)
    assert remedies(team) == [second]
    assert "yes  cgroup.kill" in team.typed(f"{AS_EVE} sh -c '{second} doctor'")


def main(release, package):
    suite = roots.RELEASES[release]
    with tempfile.TemporaryDirectory() as folder, \
            served.Served(roots.base(suite, roots.PYTHON), pathlib.Path(folder)) as computer:
        host.carry(suite, computer.root)
        install(computer, package)
        with computer.booted():
            team = Team(computer)
            ada, _ = serve_two(team)
            ada, session = replace_token(team, ada)
            replace_certificate(team, ada, session)
            look_at_metrics(team, pathlib.Path(folder))
            look_at_log(team)
            move_port(team, ada)
            upgrade(team, ada)
            delete_all(team, ada)
            stop(team, ada)
            serve_behind_proxies(team, ada)
            try_remedies(team)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
