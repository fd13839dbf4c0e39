"""Servers of tools for `./dev bench tools`, with made-up data that is the same each time.

    tool_upstream.py SERVER FOLDER

serves one of SERVERS over stdio; `files` has the files in FOLDER. The methods of a class are its tools.
"""

import base64
import inspect
import json
import pathlib
import random
import struct
import sys
import threading
import time
import zlib

PAGE = 100
SLOW_SECONDS = 0.2
WIDTH, HEIGHT = 640, 480
TYPES = {str: "string", int: "integer", list: "array"}
out = threading.Lock()

# What the parameters are, for models.
ABOUT = {
    "department": "Name of the department, for instance engineering",
    "person": "Identifier of the person, as get_team returns it",
    "quarter": "Quarter of the year, such as 2026-Q3",
    "words": "Words that title or text must have",
    "state": "State of the issues: open or closed",
    "page": "Page of the results, counted from 1",
    "number": "Number of the issue",
    "cursor": "Where the page begins: `next` of the page before, or an empty string for the first",
    "folder": "Path of the folder",
    "path": "Path of the file",
    "text": "The whole text of the file",
    "name": "File name of the picture",
    "region": "Name of the region",
}


def rng(*seed):
    return random.Random("/".join(map(str, seed)))


def sentence(source, words):
    known = ("the server answers after a while and then the client waits for a page that never comes although its log "
             "says that every request was sent in time and the queue is empty while memory grows with each file").split()
    return " ".join(source.choice(known) for _ in range(words)).capitalize() + "."


class Finance:
    CATEGORIES = ("travel", "meals", "lodging", "software", "equipment", "training")

    def get_team(self, department: str):
        """Lists the members of a department: id, name, role, email and travel_budget for a quarter, in EUR."""
        source = rng("team", department)
        names = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jana", "Kai", "Lena", "Max", "Nora",
                 "Otto", "Pia", "Quinn", "Rosa", "Sven", "Tara")
        return [{"id": f"emp-{index:03}", "name": name, "role": source.choice(["engineer", "designer", "lead"]),
                 "email": f"{name.lower()}@example.com", "travel_budget": source.choice([1500, 2500, 4000])}
                for index, name in enumerate(names, 1)]

    def get_expenses(self, person: str, quarter: str):
        """Lists the expenses of a person in a quarter, with their category, amount in EUR, status (approved, pending or
        rejected) and receipt."""
        source = rng("expenses", person, quarter)
        return [self.expense(source, person, quarter, index) for index in range(source.randint(25, 45))]

    def expense(self, source, person, quarter, index):
        year, month = int(quarter[:4]), 3 * int(quarter[-1]) - source.randint(0, 2)
        day, city = source.randint(1, 28), source.choice(["Berlin", "Lisbon", "Oslo", "Turin", "Vienna"])
        key = f"exp-{person[4:]}-{index:03}"
        return {
            "expense_id": key, "date": f"{year}-{month:02}-{day:02}", "category": source.choice(self.CATEGORIES),
            "description": sentence(source, 8), "amount": round(source.uniform(8, 900), 2), "currency": "EUR",
            "status": source.choice(["approved", "approved", "approved", "pending", "rejected"]),
            "receipt_url": f"https://receipts.example.com/{year}/{month:02}/{key}.pdf",
            "approved_by": f"emp-{source.randint(1, 20):03}", "merchant": f"{city} {source.choice(['Air', 'Inn', 'Shop'])}",
            "location": city, "payment_method": source.choice(["card", "cash", "transfer"]),
            "project_code": f"PRJ-{source.randint(100, 999)}"}


class Tracker:
    COUNT, VERSIONS = 90, ("2.3.0", "2.3.1", "2.4.0", "3.0.0")

    def issue(self, number):
        source = rng("issue", number)
        kind = source.choice(["Crash", "Crash", "Question"])
        return {"number": number, "title": f"{kind} {sentence(source, 6).lower()}",
                "state": source.choice(["open", "open", "closed"]), "user": f"user{source.randint(1, 50)}",
                "labels": source.sample(["bug", "ui", "network", "docs", "storage"], 2),
                "created_at": f"2026-{source.randint(1, 9):02}-{source.randint(1, 28):02}",
                "body": "\n\n".join([sentence(source, 60), f"Version: {source.choice(self.VERSIONS)}", sentence(source, 50)]),
                "comments": [{"user": f"user{source.randint(1, 50)}", "body": sentence(source, 30)}
                             for _ in range(source.randint(0, 4))]}

    def search_issues(self, words: str, state: str, page: int):
        """Finds issues, 30 a page: total_count, and items with number, title, state, labels, user and created_at."""
        found = [issue for issue in map(self.issue, range(1, self.COUNT + 1))
                 if issue["state"] == state and words.lower() in issue["title"].lower()]
        items = [{name: value for name, value in issue.items() if name not in ("body", "comments")} for issue in found]
        return {"total_count": len(found), "items": items[30 * (page - 1):30 * page]}

    def get_issue(self, number: int):
        """Returns an issue with its body and comments. The body has a line "Version: ..." with the reporter's version."""
        return self.issue(number)


class Shop:
    COUNT = 1000

    def list_orders(self, cursor: str):
        """Lists orders, 100 a page: orders, each with id, customer, country, status (paid, open or cancelled), total in
        EUR and ordered_at; and next, the cursor of the next page, which is null at the end."""
        begin = int(cursor or 0)
        orders = []
        for number in range(begin, begin + PAGE):
            source = rng("order", number)
            orders.append({"id": f"ord-{number:05}", "customer": f"cus-{source.randint(1, 400):04}",
                           "country": source.choice(["AT", "DE", "FR", "IT", "NO", "PT"]),
                           "status": source.choice(["paid", "paid", "paid", "open", "cancelled"]),
                           "total": round(source.uniform(5, 400), 2),
                           "ordered_at": f"2026-{source.randint(1, 9):02}-{source.randint(1, 28):02}"})
        return {"orders": orders, "next": str(begin + PAGE) if begin + PAGE < self.COUNT else None}


class Files:
    def list_folder(self, folder: str):
        """Lists the names of the files in a folder."""
        return sorted(path.name for path in place(folder).iterdir())

    def read_file(self, path: str):
        """Returns the text of a file."""
        return place(path).read_text()

    def write_file(self, path: str, text: str):
        """Writes a file, also over one that is there."""
        place(path).write_text(text)
        return f"{len(text)} characters written"


class Gallery:
    NAMES = [f"camera-{number:02}.png" for number in range(1, 13)]

    def list_pictures(self):
        """Lists the file names of the pictures."""
        return self.NAMES

    def get_picture(self, name: str):
        """Returns a picture of a camera: a PNG file with 640 x 480 pixels, 8 bits of grey each, unfiltered rows."""
        return self.png(self.NAMES.index(name))

    def png(self, index):
        level = 30 + 5 * index % 12 * 15
        rows = b"".join(b"\0" + bytes((level + (x + y) % 32) for x in range(WIDTH)) for y in range(HEIGHT))
        parts = [(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(rows)),
                 (b"IEND", b"")]
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts)


class Regions:
    NAMES = [f"{place}-{number}" for place in ("eu", "us", "ap", "sa") for number in range(1, 5)]

    def list_regions(self):
        """Lists the names of the regions."""
        return self.NAMES

    def measure_region(self, region: str):
        """Measures how long a request to a region takes: latency_ms."""
        time.sleep(SLOW_SECONDS)
        return {"region": region, "latency_ms": rng("region", region).randint(20, 400)}


SERVERS = {kind.__name__.lower(): kind for kind in (Finance, Tracker, Shop, Files, Gallery, Regions)}

# The tools of a code host, which only fill a catalogue: each with its parameters.
HOST = {
    "list_repositories": ("Lists the repositories of an owner, most recently pushed first.", "owner page per_page"),
    "get_repository": ("Returns a repository: description, topics, license and default branch.", "owner repo"),
    "create_repository": ("Creates a repository for the user whose token is used.", "name description private"),
    "fork_repository": ("Forks a repository into the user's own account or an organization.", "owner repo organization"),
    "search_repositories": ("Finds repositories by words and qualifiers.", "query sort page per_page"),
    "search_code": ("Finds code in all repositories that can be read.", "query page per_page"),
    "get_file": ("Returns a file or the list of a folder at a branch, tag or commit.", "owner repo path ref"),
    "put_file": ("Creates or updates one file with a commit of its own.", "owner repo path content message branch sha"),
    "delete_file": ("Deletes a file with a commit of its own.", "owner repo path message branch sha"),
    "push_files": ("Pushes several files in one commit.", "owner repo branch files message"),
    "list_branches": ("Lists the branches of a repository.", "owner repo page per_page"),
    "create_branch": ("Creates a branch from another one.", "owner repo branch from_branch"),
    "list_commits": ("Lists the commits of a branch, newest first.", "owner repo ref author page per_page"),
    "get_commit": ("Returns a commit with the changes of each file.", "owner repo sha"),
    "list_tags": ("Lists the tags of a repository.", "owner repo page per_page"),
    "list_issues": ("Lists the issues of a repository, filtered by state, labels and date.",
                    "owner repo state labels since sort page per_page"),
    "get_issue": ("Returns an issue with its body, labels and assignees.", "owner repo number"),
    "create_issue": ("Opens an issue.", "owner repo title body labels assignees milestone"),
    "update_issue": ("Changes title, body, state, labels or assignees of an issue.",
                     "owner repo number title body state labels assignees"),
    "comment_issue": ("Adds a comment to an issue or a pull request.", "owner repo number body"),
    "list_pull_requests": ("Lists the pull requests of a repository.", "owner repo state base head sort page per_page"),
    "get_pull_request": ("Returns a pull request with its branches and its state.", "owner repo number"),
    "create_pull_request": ("Opens a pull request.", "owner repo title body head base draft"),
    "merge_pull_request": ("Merges a pull request.", "owner repo number message method"),
    "list_pull_request_files": ("Lists the files that a pull request changes.", "owner repo number page per_page"),
    "review_pull_request": ("Submits a review: a comment, an approval, or a request for changes.",
                            "owner repo number body event comments"),
    "list_workflow_runs": ("Lists the runs of a workflow, newest first.", "owner repo workflow branch page per_page"),
    "get_job_log": ("Returns the log of a job of a workflow run.", "owner repo job tail"),
    "rerun_workflow": ("Runs a workflow run again, or only its failed jobs.", "owner repo run only_failed"),
    "list_releases": ("Lists the releases of a repository.", "owner repo page per_page"),
    "list_notifications": ("Lists the notifications of the user, unread ones first.", "all since page per_page"),
}
ABOUT_HOST = {
    "owner": "Owner of the repository: a user or an organization", "repo": "Name of the repository",
    "page": "Page of the results, counted from 1", "per_page": "Results on a page, at most 100",
    "number": "Number of the issue or pull request", "body": "The text, in Markdown", "title": "The title, in a line",
    "sort": "What to sort by: created, updated or comments", "state": "State to filter by: open, closed or all",
    "ref": "Name of a branch or tag, or a commit", "sha": "Hash of the commit or of the file that is replaced",
    "labels": "Names of labels", "assignees": "Login names of users", "since": "Only what changed since this time, in ISO 8601",
    "branch": "Name of the branch", "message": "Message of the commit", "path": "Path of the file in the repository",
    "query": "Words to look for, with qualifiers such as language:c",
}
NUMBERS, LISTS = ("page", "per_page", "number", "tail", "run", "job"), ("labels", "assignees", "files", "comments")


def place(path):
    """PATH in the folder of the server, and not outside of it."""
    folder = pathlib.Path(sys.argv[2]).resolve()
    found = (folder / path).resolve()
    if folder not in (found, *found.parents):
        raise ValueError(f"{path} is not in the folder")
    return found


def schema(properties, required):
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def described(name, description, properties, required, reads):
    return {"name": name, "description": description, "inputSchema": schema(properties, required),
            "annotations": {"title": name.replace("_", " ").capitalize(), "readOnlyHint": reads}}


def definition(function):
    properties = {name: {"type": TYPES[parameter.annotation], "description": ABOUT[name]}
                  for name, parameter in inspect.signature(function).parameters.items()}
    return described(function.__name__, " ".join(inspect.getdoc(function).split()), properties, list(properties),
                     not function.__name__.startswith("write"))


def host_definition(name):
    description, words = HOST[name]
    kinds = {**dict.fromkeys(NUMBERS, "integer"), **dict.fromkeys(LISTS, "array")}
    about = {word: ABOUT_HOST.get(word, f"The {word.replace('_', ' ')}") for word in words.split()}
    properties = {word: {"type": kinds.get(word, "string"), "description": text} for word, text in about.items()}
    return described(name, description, properties, words.split()[:2], name.startswith(("get_", "list_", "search_")))


def definitions(server):
    """What `tools/list` says of SERVER."""
    if server == "host":
        return list(map(host_definition, HOST))
    kind = SERVERS[server]
    return [definition(getattr(kind(), name)) for name, member in vars(kind).items()
            if inspect.isfunction(member) and inspect.getdoc(member)]


def result(value):
    if isinstance(value, bytes):
        return {"content": [{"type": "image", "mimeType": "image/png", "data": base64.b64encode(value).decode()}]}
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


def send(message):
    with out:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def call(server, message):
    params = message["params"]
    send({"id": message["id"], "result": result(getattr(server, params["name"])(**params.get("arguments") or {}))})


def serve(name):
    server = SERVERS.get(name, object)()
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            send({"id": message["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                                  "serverInfo": {"name": name, "version": "1"}}})
        elif method == "tools/list":
            send({"id": message["id"], "result": {"tools": definitions(name)}})
        elif method == "tools/call" and message["params"]["name"] == "measure_region":
            threading.Thread(target=call, args=(server, message), daemon=True).start()
        elif method == "tools/call":
            call(server, message)
        elif "id" in message:
            send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    serve(sys.argv[1])
