'''
tries = "to look as if it had been killed for its memory or its time"
held_by = ["by design: the status comes from the kernel"]
[outcome]
any = "exit 137: killed"
'''
print("killed")
raise SystemExit(137)
