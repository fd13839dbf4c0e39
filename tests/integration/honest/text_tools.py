"""sort, uniq, cut, awk, sed, grep, find, xargs, diff, wc, head: what scripts call for text."""
import pathlib
import subprocess

pathlib.Path("words").write_text("".join(f"{word} {len(word)}\n" for word in "pear fig apple fig plum apple".split()))
pathlib.Path("folder/below").mkdir(parents=True)
pathlib.Path("folder/below/deep.txt").write_text("x\n")
for command in (
        "sort words | uniq -c | sort -rn -k1,1 -k2,2 | head -3",
        "cut -d' ' -f2 words | sort -n | paste -sd+ -",
        "awk '{ n[$1]++; total += $2 } END { print n[\"fig\"], total }' words",
        "sed -n 's/^\\(.\\).*/\\1/p' words | tr -d '\\n'",
        "grep -c apple words; grep -nE '^p' words",
        "find folder -type f -name '*.txt' | xargs wc -l",
        "sort words >sorted; diff words sorted | head -n 2; cmp words words && echo same",
        "seq 50000 | sort -R | sort -n --parallel=2 -S 1M -T . | sed -n '1p;$p'",
        "split -l 2 words part. && ls part.*",
        "du -s folder >/dev/null && stat -c '%a %F' words && basename \"$PWD/x\" && date -u -d @0 +%F",
        "sha256sum words | cut -c1-16; od -An -tx1 -N4 words; base64 words | head -c 8",
        "expr 6 \\* 7; printf '%05.2f\\n' 3.14159; seq -s, 3; yes | head -n 1; echo abc | rev"):
    print(subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True).stdout, end="")
