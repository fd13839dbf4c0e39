"""decimal, fractions, math, statistics, random with a seed, integers of thousands of digits."""
import cmath
import decimal
import fractions
import math
import random
import statistics

with decimal.localcontext() as context:
    context.prec = 50
    print(decimal.Decimal(2).sqrt(), decimal.Decimal("1.10") + decimal.Decimal("2.20"))
print(fractions.Fraction(1, 3) + fractions.Fraction(1, 6), math.comb(100, 50), math.isclose(math.sin(math.pi), 0, abs_tol=1e-9))
generator = random.Random(7)
print([generator.randint(0, 99) for _ in range(8)], generator.sample(range(1000), 3), generator.gauss(0, 1))
print(statistics.mean([1, 2, 3.5]), statistics.stdev([1, 2, 4]), cmath.sqrt(-1), math.factorial(500) % 10007)
print(pow(3, 10 ** 6, 10 ** 9 + 7), (0.1 + 0.2).hex(), float("1e308") * 10, sum([0.1] * 10), math.fsum([0.1] * 10))
