"""The six tasks of `./dev bench tools`, and the model that does them: a fixed one, which needs no network.

It does a task by direct calls, where each result passes through it, or by one script.
"""

import base64
import collections
import csv
import dataclasses
import io
import json
import typing
import zlib

import tool_upstream

QUARTER = "2026-Q3"
READINGS = 12  # files
PIXELS_PER_TOKEN = 750


@dataclasses.dataclass(frozen=True)
class Task:
    """`rounds` is what a model does by direct calls: a generator of lists of calls, each a server, a tool and its
    arguments. It is given their results, and returns the answer. `script` prints the answer as JSON."""

    title: str
    question: str
    rounds: typing.Callable
    script: str
    answer: object


def answered(answer):
    return json.dumps(answer, sort_keys=True)


# ---------------------------------------------------------------- expenses

def over_budget(team, expenses):
    found = {}
    for person in team:
        spent = sum(each["amount"] for each in expenses[person["id"]]
                    if each["category"] == "travel" and each["status"] == "approved")
        if spent > person["travel_budget"]:
            found[person["name"]] = round(spent - person["travel_budget"], 2)
    return found


def expenses_rounds():
    (team,) = yield [("finance", "get_team", {"department": "engineering"})]
    lists = yield [("finance", "get_expenses", {"person": each["id"], "quarter": QUARTER}) for each in team]
    return over_budget(team, dict(zip([each["id"] for each in team], lists)))


EXPENSES_SCRIPT = f"""\
import json, tools
from tools import finance

team = finance.get_team(department="engineering")
lists = tools.map(lambda person: finance.get_expenses(person=person["id"], quarter="{QUARTER}"), team)
over = {{}}
for person, expenses in zip(team, lists):
    spent = sum(e["amount"] for e in expenses if e["category"] == "travel" and e["status"] == "approved")
    if spent > person["travel_budget"]:
        over[person["name"]] = round(spent - person["travel_budget"], 2)
print(json.dumps(over))
"""


def expenses():
    finance = tool_upstream.Finance()
    team = finance.get_team("engineering")
    return Task(
        "expenses", "Which members of engineering spent more on travel in the third quarter of 2026 than their travel budget? "
        "Only approved expenses count. Answer with an object: by name, the EUR above the budget.",
        expenses_rounds, EXPENSES_SCRIPT,
        over_budget(team, {each["id"]: finance.get_expenses(each["id"], QUARTER) for each in team}))


# ---------------------------------------------------------------- issues

def version_in(issue):
    return next(line[9:] for line in issue["body"].splitlines() if line.startswith("Version: "))


def issues_rounds():
    first, = yield [("tracker", "search_issues", {"words": "crash", "state": "open", "page": 1})]
    items = first["items"]
    pages = range(2, -(-first["total_count"] // 30) + 1)
    if pages:
        more = yield [("tracker", "search_issues", {"words": "crash", "state": "open", "page": page}) for page in pages]
        items = items + [item for page in more for item in page["items"]]
    found = yield [("tracker", "get_issue", {"number": item["number"]}) for item in items]
    return dict(collections.Counter(map(version_in, found)))


ISSUES_SCRIPT = """\
import collections, json, re, tools
from tools import tracker

first = tracker.search_issues(words="crash", state="open", page=1)
items = first["items"]
for page in range(2, -(-first["total_count"] // 30) + 1):
    items += tracker.search_issues(words="crash", state="open", page=page)["items"]
issues = tools.map(lambda item: tracker.get_issue(number=item["number"]), items)
print(json.dumps(collections.Counter(re.search(r"^Version: (.*)$", issue["body"], re.M)[1] for issue in issues)))
"""


def issues():
    tracker = tool_upstream.Tracker()
    found = [issue for issue in map(tracker.issue, range(1, tracker.COUNT + 1))
             if issue["state"] == "open" and "crash" in issue["title"].lower()]
    return Task(
        "issues", "How many open issues about a crash are there for each version that reporters name? Answer with an object.",
        issues_rounds, ISSUES_SCRIPT, dict(collections.Counter(map(version_in, found))))


# ---------------------------------------------------------------- database

def revenue(orders):
    found = collections.defaultdict(float)
    for order in orders:
        if order["status"] == "paid":
            found[order["country"]] += order["total"]
    return {country: round(total, 2) for country, total in found.items()}


def database_rounds():
    orders, cursor = [], ""
    while cursor is not None:
        (page,) = yield [("shop", "list_orders", {"cursor": cursor})]
        orders += page["orders"]
        cursor = page["next"]
    return revenue(orders)


DATABASE_SCRIPT = """\
import collections, json
from tools import shop

totals, cursor = collections.Counter(), ""
while cursor is not None:
    page = shop.list_orders(cursor=cursor)
    for order in page["orders"]:
        if order["status"] == "paid":
            totals[order["country"]] += order["total"]
    cursor = page["next"]
print(json.dumps({country: round(total, 2) for country, total in totals.items()}))
"""


def database():
    shop = tool_upstream.Shop()
    pages = range(0, shop.COUNT, tool_upstream.PAGE)
    return Task(
        "database", "What is the revenue of all paid orders by country? Answer with an object, in EUR.",
        database_rounds, DATABASE_SCRIPT, revenue(order for page in pages for order in shop.list_orders(str(page))["orders"]))


# ---------------------------------------------------------------- files

def write_readings(folder):
    """The files that the task transforms."""
    for number in range(1, READINGS + 1):
        source = tool_upstream.rng("readings", number)
        rows = [f"2026-09-{day:02}T{hour:02}:00,{source.randint(500, 900) / 10}" for day in (1, 2) for hour in range(24)]
        (folder / f"sensor-{number:02}.csv").write_text("\n".join(["time,fahrenheit", *rows]) + "\n")


def in_celsius(text):
    return json.dumps([{"time": row["time"], "celsius": round((float(row["fahrenheit"]) - 32) / 1.8, 2)}
                       for row in csv.DictReader(io.StringIO(text))])


def files_rounds():
    (names,) = yield [("files", "list_folder", {"folder": "."})]
    names = [name for name in names if name.endswith(".csv")]
    texts = yield [("files", "read_file", {"path": name}) for name in names]
    yield [("files", "write_file", {"path": name.replace(".csv", ".json"), "text": in_celsius(text)})
           for name, text in zip(names, texts)]
    return len(names)


FILES_SCRIPT = """\
import csv, io, json, tools
from tools import files

def transform(name):
    rows = csv.DictReader(io.StringIO(files.read_file(path=name)))
    readings = [{"time": row["time"], "celsius": round((float(row["fahrenheit"]) - 32) / 1.8, 2)} for row in rows]
    files.write_file(path=name.replace(".csv", ".json"), text=json.dumps(readings))

names = [name for name in files.list_folder(folder=".") if name.endswith(".csv")]
tools.map(transform, names)
print(len(names))
"""


def files():
    return Task(
        "files", "Make a JSON file of each CSV file in the folder `.`: a list of objects with time and celsius, to two "
        "digits. The name stays, but ends in .json. Answer with the number of files.", files_rounds, FILES_SCRIPT, READINGS)


def take_files(folder):
    """Takes away the files that the task has made, and complains where they are wrong."""
    for path in folder.glob("*.csv"):
        made = path.with_suffix(".json")
        if json.loads(made.read_text()) != json.loads(in_celsius(path.read_text())):
            raise RuntimeError(f"files: {made.name} is wrong")
        made.unlink()


# ---------------------------------------------------------------- pictures

def brightness(png):
    place, packed = 8, b""
    while place < len(png):
        length = int.from_bytes(png[place:place + 4], "big")
        if png[place + 4:place + 8] == b"IDAT":
            packed += png[place + 8:place + 8 + length]
        place += length + 12
    return sum(zlib.decompress(packed))


def pictures_rounds():
    (names,) = yield [("gallery", "list_pictures", {})]
    found = yield [("gallery", "get_picture", {"name": name}) for name in names]
    return max(zip(map(brightness, found), names))[1]


PICTURES_SCRIPT = """\
import json, tools, zlib
from tools import gallery

def brightness(name):
    png, place, packed = gallery.get_picture(name=name).data, 8, b""
    while place < len(png):
        length = int.from_bytes(png[place:place + 4], "big")
        if png[place + 4:place + 8] == b"IDAT":
            packed += png[place + 8:place + 8 + length]
        place += length + 12
    return sum(zlib.decompress(packed))

names = gallery.list_pictures()
print(json.dumps(max(zip(tools.map(brightness, names), names))[1]))
"""


def pictures():
    gallery = tool_upstream.Gallery()
    return Task(
        "pictures", "Which picture of the gallery is the brightest? Answer with its name.", pictures_rounds, PICTURES_SCRIPT,
        max((brightness(gallery.get_picture(name)), name) for name in gallery.list_pictures())[1])


# ---------------------------------------------------------------- slow calls

def slow_rounds():
    (names,) = yield [("regions", "list_regions", {})]
    found = yield [("regions", "measure_region", {"region": name}) for name in names]
    return min(found, key=lambda each: each["latency_ms"])["region"]


SLOW_SCRIPT = """\
import json, tools
from tools import regions

found = tools.map(lambda name: regions.measure_region(region=name), regions.list_regions())
print(json.dumps(min(found, key=lambda each: each["latency_ms"])["region"]))
"""


def slow():
    latencies = [(tool_upstream.rng("region", name).randint(20, 400), name) for name in tool_upstream.Regions.NAMES]
    return Task("slow calls", "Which region answers fastest? Answer with its name.", slow_rounds, SLOW_SCRIPT,
                min(latencies)[1])


def tasks():
    return [expenses(), issues(), database(), files(), pictures(), slow()]


# ---------------------------------------------------------------- the model

class Conversation:
    """What a model reads and writes: texts, and numbers of tokens."""

    def __init__(self, tools, question):
        self.parts = [json.dumps(tools), question]
        self.turns = []  # of each, the index of what it wrote

    def write(self, text):
        self.turns.append(len(self.parts))
        self.parts.append(text)

    def read(self, part):
        self.parts.append(part)

    def tokens(self, sizes):
        """All turns together, by the size of each part. A turn reads all that was there before."""
        return sum(sum(sizes[:written + 1]) for written in self.turns)


def value_of(content):
    """The content of a result as the tasks use it, and what a model reads of it: text, or the tokens of a picture."""
    (block,) = content
    if block["type"] == "image":
        return base64.b64decode(block["data"]), tool_upstream.WIDTH * tool_upstream.HEIGHT // PIXELS_PER_TOKEN
    text = block["text"]
    return json.loads(text) if text[:1] in ("{", "[") else text, text


def directly(task, tools, call):
    """Does TASK by direct calls: the conversation, and the milliseconds of all calls. CALL makes several at once: it returns
    their contents, and how long they took."""
    talk, taken, rounds = Conversation(tools, task.question), 0, task.rounds()
    try:
        calls = next(rounds)
        while True:
            talk.write(json.dumps([{"name": f"{server}_{tool}", "arguments": arguments} for server, tool, arguments in calls]))
            contents, milliseconds = call(calls)
            taken += milliseconds
            values = []
            for content in contents:
                value, part = value_of(content)
                values.append(value)
                talk.read(part)
            calls = rounds.send(values)
    except StopIteration as end:
        return finished(task, talk, end.value), taken


def finished(task, talk, answer):
    if answer != task.answer:
        raise RuntimeError(f"{task.title}: the answer is {answer!r}, not {task.answer!r}")
    talk.write(answered(answer))
    return talk


def printed_by(text):
    """What a script has printed as JSON, by the TEXT of its result."""
    line = text.partition("Code output: ")[2].partition("\n")[0]
    if not line:
        raise RuntimeError(text)
    return json.loads(line)


def by_script(task, tools, run):
    """Does TASK by one script: the conversation, and the milliseconds of it. RUN returns the text of a run's result and how
    long it took."""
    talk = Conversation(tools, task.question)
    talk.write(json.dumps([{"name": "run_python", "arguments": {"code": task.script}}]))
    text, milliseconds = run(task.script)
    talk.read(text)
    return finished(task, talk, printed_by(text)), milliseconds
