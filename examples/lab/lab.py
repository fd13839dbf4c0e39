"""What every script of this laboratory may import."""


def mean(values):
    values = list(values)
    return sum(values) / len(values)
