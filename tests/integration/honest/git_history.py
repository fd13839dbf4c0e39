"""git: a repository, commits, branches, a merge, a log, a clone, a diff and a garbage collection."""
import os
import pathlib
import shutil
import subprocess

os.environ.update(GIT_AUTHOR_DATE="2024-01-01T00:00:00Z", GIT_COMMITTER_DATE="2024-01-01T00:00:00Z",
                  GIT_CONFIG_NOSYSTEM="1")


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, stdout=subprocess.PIPE, text=True, cwd="project").stdout


os.mkdir("project")
git("init", "-q", "-b", "main", ".")
git("config", "user.name", "A")
git("config", "user.email", "a@example.org")
for number in range(3):
    pathlib.Path(f"project/file{number}").write_text(f"{number}\n")
    git("add", ".")
    git("commit", "-qm", f"file {number}")
git("checkout", "-qb", "side", "HEAD~1")
pathlib.Path("project/side").write_text("side\n")
git("add", "side")
git("commit", "-qm", "side")
git("checkout", "-q", "main")
git("merge", "-q", "--no-edit", "side")
print(git("log", "--format=%h %s", "--graph"), git("status", "--short"), git("diff", "--stat", "HEAD~2"))
git("gc", "-q")
print(git("fsck"), git("rev-parse", "HEAD"))
subprocess.run(["git", "clone", "-q", "project", "cloned"], check=True)
print(sorted(os.listdir("cloned")))
for folder in ("project", "cloned"):
    shutil.rmtree(folder)  # the index has the times of files in it
