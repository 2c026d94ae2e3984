"""Time and order: docs/model/time.md."""

import heapq

SECOND = 10**12  # in picoseconds

# Classes of events at one time. What moves inside the mesh comes first: it touches nothing outside.
INSIDE_MESH, MESSAGE, ARRIVAL, LOCAL = range(4)


def transfer(size, rate):
    return size * SECOND // rate


class Server:
    """First come, first served; what a division leaves over is kept while it is busy."""

    __slots__ = ('rate', 'free_at', 'remainder', 'bytes', 'longest_wait')

    def __init__(self, rate):
        self.rate = rate
        self.free_at = 0
        self.remainder = 0
        self.bytes = 0
        self.longest_wait = 0

    def take(self, now, size):
        """Returns the start; the end is free_at."""
        start = self.free_at
        if start < now:
            start = now
            self.remainder = 0
        whole, rest = divmod(size * SECOND, self.rate)
        self.free_at = start + whole
        self.remainder += rest
        if self.remainder >= self.rate:
            self.remainder -= self.rate
            self.free_at += 1
        self.bytes += size
        if start - now > self.longest_wait:
            self.longest_wait = start - now
        return start

    def busy(self):
        return transfer(self.bytes, self.rate)


class Events:
    """All events of all GPUs. GPUs meet through messages only, so those of one time need no order."""

    def __init__(self):
        self.heap = []
        self.scheduled = 0
        self.now = 0

    def at(self, time, rank, handler, *args):
        """rank: a tuple, class first; equal ranks go in the order of the calls."""
        self.scheduled += 1
        heapq.heappush(self.heap, (time, rank, self.scheduled, handler, args))

    def local(self, time, handler, *args):
        self.at(time, (LOCAL,), handler, *args)

    def run(self):
        heap = self.heap
        while heap:
            self.now, _, _, handler, args = heapq.heappop(heap)
            handler(self.now, *args)


class Relative:
    """Relative order of n GPUs in nodes of g: docs/model.md."""

    def __init__(self, gpus, node):
        self.gpus = gpus
        self.node = node if node < gpus else 1

    def diff(self, a, b):
        n, g = self.gpus, self.node
        return ((a // g - b // g) % (n // g)) * g + (a % g - b % g) % g

    def add(self, a, k):
        n, g = self.gpus, self.node
        return ((a // g + k // g) % (n // g)) * g + (a % g + k % g) % g
