"""How a GPU runs its operations, and how a compute unit issues: docs/model/threadblocks.md."""

from collections import deque

from order import transfer


class Chunk:
    """What prefetching knows of a chunk that is stored."""

    def __init__(self, begin, size):
        self.covered = begin
        self.end = begin + size


class Line:
    """One line of an operation, or a flag."""

    __slots__ = ('threadblock', 'sources', 'destination', 'size', 'to_load', 'to_come', 'issued', 'channel', 'chunk')

    def __init__(self, threadblock, sources, destination, size, channel=None, chunk=None):
        self.threadblock = threadblock
        self.sources = sources  # positions in the own GPU
        self.destination = destination  # GPU, position
        self.size = size
        self.to_load = self.to_come = len(sources)
        self.issued = None
        self.channel = channel  # of a flag: what it raises
        self.chunk = chunk


class ComputeUnit:
    def __init__(self, gpu, number):
        machine = gpu.machine
        self.gpu = gpu
        self.router = machine.cu_router(number)
        self.interval = machine.p['gpu.issue_interval']
        self.most_outstanding = machine.p['gpu.max_outstanding']
        self.reduce_rate = machine.p['gpu.reduce_rate']
        self.free_at = 0
        self.stores = deque()
        self.loading = deque()  # threadblocks
        self.outstanding = 0
        self.booked = False
        self.half_loaded = None  # a line some of whose operands are still to be loaded

    def may_load(self):
        return self.loading and (self.outstanding < self.most_outstanding or self.half_loaded)

    def kick(self, now):
        if not self.booked and (self.stores or self.may_load()):
            self.booked = True
            self.gpu.events.local(max(self.free_at, now), self._slot)

    def _slot(self, now):
        self.booked = False
        if now >= self.free_at:
            self.free_at = now + self.interval
            if self.stores:
                self._store(now, self.stores.popleft())
            elif self.may_load():
                self._load(now)
        self.kick(now)

    def _load(self, now):
        threadblock = self.loading[0]
        line = self.half_loaded or threadblock.lines.popleft()
        operand = len(line.sources) - line.to_load
        line.to_load -= 1
        self.half_loaded = line if line.to_load else None
        if not line.to_load:
            self.loading.popleft()
            if threadblock.lines:
                self.loading.append(threadblock)
        self.outstanding += 1
        if self.gpu.prefetcher:
            self.gpu.prefetcher.line_loads(now, self, line)
        self.gpu.load(now, self, line, operand)

    def operand_came(self, now, line, operand):
        if operand > 0:
            self.outstanding -= 1
        line.to_come -= 1
        if line.to_come == 0:
            if len(line.sources) > 1:
                work = transfer(len(line.sources) * line.size, self.reduce_rate)
                self.free_at = max(self.free_at, now) + work
            self.stores.append(line)
        self.kick(now)

    def _store(self, now, line):
        if line.channel is not None:
            self.gpu.store_afar(now, self, line)
        elif line.destination[0] != self.gpu.number:
            self.gpu.store_afar(now, self, line)
            threadblock = line.threadblock
            threadblock.unacknowledged += 1
            threadblock.lines_left -= 1
            if threadblock.lines_left == 0:
                threadblock.end_operation(now)
        else:
            self.gpu.store_here(now, self, line)

    def acknowledged(self, now, line):
        """A store of a put is written at its peer, and that is known here."""
        self.outstanding -= 1
        threadblock = line.threadblock
        threadblock.unacknowledged -= 1
        if threadblock.unacknowledged == 0 and threadblock.wants_acknowledged:
            threadblock.wants_acknowledged = False
            threadblock.go_on(now)
        self.kick(now)

    def written_here(self, now, line):
        """The same of a copy or a reduction."""
        self.outstanding -= 1
        threadblock = line.threadblock
        threadblock.lines_left -= 1
        if threadblock.lines_left == 0:
            threadblock.end_operation(now)
        self.kick(now)


class Threadblock:
    def __init__(self, executor, number, cu, operations):
        self.executor = executor
        self.number = number
        self.cu = cu
        self.operations = operations
        self.next = 0  # the operation under way
        self.unacknowledged = 0
        self.wants_acknowledged = False
        self.lines = deque()  # of the operation under way, not loaded yet
        self.lines_left = 0  # of it, not stored yet (put) or not acknowledged yet (copy, reduce)

    def end_operation(self, now):
        self.next += 1
        self.go_on(now)

    def go_on(self, now):
        self.executor.make_ready(self)
        self.executor.work_off(now)

    def run(self, now):
        """Until an operation has to wait, or all have ended."""
        while self.next < len(self.operations):
            kind, *what = self.operations[self.next]
            if not getattr(self, '_' + kind)(now, *what):
                return
            self.next += 1
        self.executor.ended(now)

    # Operations: true if they end at once.

    def _move(self, now, parts, sends=False):
        gpu = self.executor.gpu
        self.lines.extend(gpu.lines_of(self, parts))
        self.lines_left = len(self.lines)
        if not self.lines:
            return True
        if sends and gpu.prefetcher:
            gpu.prefetcher.put_begins(now, self)
        self.cu.loading.append(self)
        self.cu.kick(now)
        return False

    def _put(self, now, pairs):
        return self._move(now, [([source], destination) for source, destination in pairs], sends=True)

    def _copy(self, now, pairs):
        return self._move(now, [([source], destination) for source, destination in pairs])

    def _reduce(self, now, sources, destination):
        return self._move(now, [(sources, destination)])

    def _signal(self, now, channel):
        if self.unacknowledged:
            self.wants_acknowledged = True
            return False
        peer, raised = self.executor.gpu.pod.plan.connected[self.executor.gpu.number, channel]
        position = self.executor.gpu.pod.gpus[peer].flag_position(raised)
        self.cu.stores.append(Line(self, [], (peer, position), self.cu.gpu.machine.control, raised))
        self.cu.kick(now)
        return True

    def _wait(self, now, channel):
        if self.executor.signals[channel] == 0:
            self.executor.waiting[channel] = self
            return False
        self.executor.signals[channel] -= 1
        return True

    def _barrier(self, now, number):
        if self.unacknowledged:
            self.wants_acknowledged = True
            return False
        return self.executor.meet(self, number)


class Executor:
    """The threadblocks of one GPU."""

    def __init__(self, gpu, cus):
        plan = gpu.pod.plan
        self.gpu = gpu
        self.ready = deque()
        self.signals = [0] * plan.channel_count
        self.waiting = {}  # channel -> threadblock
        self.barriers = {}  # number -> threadblocks that wait there
        self.last_end = 0
        units = {}
        self.threadblocks = []
        for number, operations in enumerate(plan.threadblocks[gpu.number]):
            cu = cus[number]
            if cu not in units:
                units[cu] = ComputeUnit(gpu, cu)
            self.threadblocks.append(Threadblock(self, number, units[cu], operations))

    def start(self, now):
        self.ready.extend(self.threadblocks)
        self.work_off(now)

    def make_ready(self, threadblock):
        self.ready.append(threadblock)

    def work_off(self, now):
        while self.ready:
            self.ready.popleft().run(now)

    def ended(self, now):
        self.last_end = max(self.last_end, now)

    def flag_landed(self, now, channel):
        self.signals[channel] += 1
        threadblock = self.waiting.pop(channel, None)
        if threadblock:
            threadblock.go_on(now)

    def meet(self, threadblock, number):
        there = self.barriers.setdefault(number, [])
        if len(there) + 1 < self.gpu.pod.plan.barrier_of:
            there.append(threadblock)
            return False
        for other in there:
            other.next += 1
            self.make_ready(other)
        there.clear()
        return True
