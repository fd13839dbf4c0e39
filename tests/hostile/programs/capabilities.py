'''
tries = "to have a capability, in any of the five sets, or to be given one by a file"
held_by = ["no capabilities", "no new privileges"]
[outcome]
any = "exit 0: none"
'''
lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
sets = {name: int(value, 16) for name, value in lines.items() if name.startswith("Cap")}
assert len(sets) == 5
print("none" if not any(sets.values()) and lines["NoNewPrivs"].strip() == "1" else (sets, lines))
