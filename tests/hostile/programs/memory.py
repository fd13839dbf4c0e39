'''
tries = "to take the memory of the machine"
held_by = ["limit on memory"]
[outcome]
any = "memory|exit 1"  # by its cgroup, or MemoryError where there is none
'''
taken = [bytearray(16 << 20) for _ in range(40)]
print(len(taken))
