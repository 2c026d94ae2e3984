"""Chunks and operations of generated plans: docs/model/plans.md.

A chunk is (gpu, buffer, number). In plans that run in place the buffer `data` stands for input and output.
"""

from order import Relative


def part(total, grain, parts, i):
    n = total // grain
    size = (n // parts + (1 if i < n % parts else 0)) * grain
    return size + (total % grain if i == parts - 1 else 0)


class Plan:
    """threadblocks[gpu][t]: a list of operations, which are
    ('put' or 'copy', [(source, destination), ...]), ('reduce', [source, ...], destination),
    ('signal' or 'wait', channel), ('barrier', number)."""

    def __init__(self, collective, gpus, channels, size, node, ring=False, own_apart=False):
        self.collective = collective
        self.gpus = gpus
        self.channels = channels
        self.size = size
        self.order = Relative(gpus, 1 if ring else node)
        self.in_place = collective != 'alltoall'
        self.grain = 1 if size % gpus == 0 else 16
        self.threadblocks = [[] for _ in range(gpus)]
        self.barrier_of = 0  # threadblocks that meet at a barrier
        self.scratch_chunks = 0
        self.channel_count = 0
        self.connected = {}  # (gpu, channel) -> (gpu, channel) that a signal raises
        if gpus == 1:
            self._alone()
        elif ring:
            self._ring()
        else:
            self._allpairs(own_apart)

    # Lengths

    def block(self, i):
        return part(self.size, self.grain, self.gpus, i)

    def length(self, chunk):
        gpu, buffer, number = chunk
        if buffer == 'scratch':
            longest = max(self.block(0), self.block(self.gpus - 1))
            return max(part(longest, 16, self.channels, 0), part(longest, 16, self.channels, self.channels - 1))
        block, c = divmod(number, self.channels)
        if buffer == 'input':
            block = self.order.diff(block, gpu)
        elif buffer == 'output':
            block = self.order.diff(gpu, block)
        return part(self.block(block), 16, self.channels, c)

    def buffers(self):
        """In the order of the memory image: name, and whether it has a block for each GPU."""
        whole = ['data'] if self.in_place else ['input', 'output']
        return [(name, True) for name in whole] + [('scratch', False)]

    def chunks(self, gpu, buffer):
        """In relative order."""
        if buffer == 'scratch':
            return [(gpu, buffer, k) for k in range(self.scratch_chunks)]
        blocks = [self.order.add(gpu, k) for k in range(self.gpus)]
        return [(gpu, buffer, b * self.channels + c) for b in blocks for c in range(self.channels)]

    # Names of chunks

    def input(self, gpu, block, c):
        return gpu, 'data' if self.in_place else 'input', block * self.channels + c

    def output(self, gpu, block, c):
        return gpu, 'data' if self.in_place else 'output', block * self.channels + c

    # Plans

    def _alone(self):
        for c in range(self.channels):
            operations = []
            if self.collective == 'alltoall':
                operations.append(('copy', [(self.input(0, 0, c), self.output(0, 0, c))]))
            self.threadblocks[0].append(operations)

    def _allpairs(self, own_apart):
        n, channels = self.gpus, self.channels
        self.channel_count = (n - 1) * channels
        self.barrier_of = n - 1
        if self.collective in ('reducescatter', 'allreduce'):
            self.scratch_chunks = (n - 1) * channels
        for r in range(n):
            for d in range(1, n):
                q = self.order.add(r, d)
                back = self.order.diff(r, q)
                for c in range(channels):
                    own = (d - 1) * channels + c
                    self.connected[r, own] = q, (back - 1) * channels + c
                    self.threadblocks[r].append(self._allpairs_threadblock(r, d, c, q, back, own_apart))
            if self.collective == 'alltoall' and own_apart:
                for c in range(channels):
                    self.threadblocks[r].append([('copy', [(self.input(r, r, c), self.output(r, r, c))])])

    def _allpairs_threadblock(self, r, d, c, q, back, own_apart):
        n, channels = self.gpus, self.channels
        own = (d - 1) * channels + c
        announce, await_ = ('signal', own), ('wait', own)
        barrier = [('barrier', c)] if n > 2 else []
        if self.collective == 'allgather':
            return [('put', [(self.input(r, r, c), self.output(q, r, c))]), announce, await_]
        if self.collective == 'alltoall':
            operations = [('put', [(self.input(r, q, c), self.output(q, r, c))]), announce]
            if d == 1 and not own_apart:
                operations.append(('copy', [(self.input(r, r, c), self.output(r, r, c))]))
            return operations + [await_]
        operations = [('put', [(self.input(r, q, c), (q, 'scratch', (back - 1) * channels + c))]), announce, await_]
        operations += barrier
        if d == 1:
            sources = [self.input(r, r, c)] + [(r, 'scratch', (k - 1) * channels + c) for k in range(1, n)]
            operations.append(('reduce', sources, self.output(r, r, c)))
        if self.collective == 'allreduce':
            operations += barrier
            operations += [('put', [(self.output(r, r, c), self.output(q, r, c))]), announce, await_]
        return operations

    def _ring(self):
        n, channels = self.gpus, self.channels
        self.channel_count = channels if n == 2 else 2 * channels
        back = 0 if n == 2 else channels
        if self.collective in ('reducescatter', 'allreduce'):
            self.scratch_chunks = (n - 1) * channels
        elif self.collective == 'alltoall':
            self.scratch_chunks = (n - 1) * (n - 2) // 2 * channels
        for r in range(n):
            for c in range(channels):
                self.connected[r, c] = (r + 1) % n, back + c
                if n > 2:
                    self.connected[r, back + c] = (r - 1) % n, c
                hand_over = ('signal', c), ('wait', back + c)
                operations = []
                if self.collective in ('reducescatter', 'allreduce'):
                    self._ring_reduce(operations, r, c, hand_over)
                if self.collective in ('allgather', 'allreduce'):
                    self._ring_gather(operations, r, c, hand_over)
                if self.collective == 'alltoall':
                    self._ring_exchange(operations, r, c, hand_over)
                self.threadblocks[r].append(operations)

    def _ring_gather(self, operations, r, c, hand_over):
        n = self.gpus
        following = (r + 1) % n
        for s in range(n - 1):
            b = (r - s) % n
            operations.append(('put', [(self.output(r, b, c), self.output(following, b, c))]))
            operations.extend(hand_over)

    def _ring_reduce(self, operations, r, c, hand_over):
        n, channels = self.gpus, self.channels
        following = (r + 1) % n
        for s in range(n - 1):
            a, b = (r - s - 1) % n, (r - s - 2) % n
            slot = s * channels + c
            operations.append(('put', [(self.input(r, a, c), (following, 'scratch', slot))]))
            operations.extend(hand_over)
            operations.append(('reduce', [self.input(r, b, c), (r, 'scratch', slot)], self.output(r, b, c)))

    def _ring_exchange(self, operations, r, c, hand_over):
        n, channels = self.gpus, self.channels
        following = (r + 1) % n

        def slot(s, d):
            return ((s - 1) * (n - 1) - (s - 1) * s // 2 + d - s - 1) * channels + c

        for s in range(1, n):
            pairs = []
            for d in range(s, n):
                source = self.input(r, (r + d) % n, c) if s == 1 else (r, 'scratch', slot(s - 1, d))
                if d == s:
                    pairs.append((source, self.output(following, (r - s + 1) % n, c)))
                else:
                    pairs.append((source, (following, 'scratch', slot(s, d))))
            operations.append(('put', pairs))
            operations.append(hand_over[0])
            if s == 1:
                operations.append(('copy', [(self.input(r, r, c), self.output(r, r, c))]))
            operations.append(hand_over[1])
