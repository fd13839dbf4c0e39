'''
tries = "nothing: with it the arena itself is shown to be fit"
held_by = []
[outcome]
any = "exit 0: done"
"sandbox hosts" = "exit 0: done"
'''
print("done")
