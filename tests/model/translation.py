"""The link MMU of one GPU: docs/model/translation.md."""

from collections import defaultdict, deque

from fabric import MEMORY, PORT
from order import transfer


class Cache:
    def __init__(self, entries, ways, policy):
        self.ways = ways or entries
        self.sets = [{} for _ in range(entries // self.ways)]  # key -> stamp, in the order of the ways
        self.policy = policy
        self.stamp = 0
        self.state = 0x2545F4914F6CDD1D
        self.lookups = self.hits = self.fills = self.evictions = 0

    def _stamp(self):
        self.stamp += 1
        return self.stamp

    def _set(self, key):
        return self.sets[key % len(self.sets)]

    def has(self, key):
        return key in self._set(key)

    def lookup(self, key):
        entries = self._set(key)
        self.lookups += 1
        if key not in entries:
            return False
        self.hits += 1
        if self.policy == 'LRU':
            entries[key] = self._stamp()
        return True

    def fill(self, key):
        entries = self._set(key)
        if key in entries:
            if self.policy == 'LRU':
                entries[key] = self._stamp()
            return
        self.fills += 1
        if len(entries) < self.ways:
            entries[key] = self._stamp()
            return
        self.evictions += 1
        if self.policy == 'random':
            old = list(entries)[self._draw()]
        else:
            old = min(entries, key=entries.get)
        # The new entry takes the way of the old one.
        items = [(key, self._stamp()) if k == old else (k, stamp) for k, stamp in entries.items()]
        entries.clear()
        entries.update(items)

    def _draw(self):
        x, mask = self.state, 2**64 - 1
        x ^= x << 13 & mask
        x ^= x >> 7
        x ^= x << 17 & mask
        self.state = x
        return (x >> 32) % self.ways


class Request:
    """A store or a flag that is in at a port."""

    __slots__ = ('came', 'page', 'way', 'translated')

    def __init__(self, came, page, way, translated):
        self.came = came
        self.page = page
        self.way = way  # arguments of Gpu.enter()
        self.translated = translated  # else it is of the own node


AHEAD = None  # in a register: a request ahead, which waits for nothing


class Port:
    def __init__(self, number, p):
        self.number = number
        self.cache = Cache(p['translation.l1_entries'], p['translation.l1_ways'], p['translation.l1_policy'])
        self.registers = {}  # page -> requests
        self.waiting = 0  # requests in them
        self.held = deque()  # back
        self.due = False
        self.behind = 0


class Mmu:
    def __init__(self, gpu):
        self.gpu = gpu
        self.events = gpu.events
        self.p = p = gpu.machine.p
        self.full = p['translation.mode'] == 'full'
        self.ports = [Port(number, p) for number in range(gpu.machine.ports)]
        self.l2 = Cache(p['translation.l2_entries'], p['translation.l2_ways'], p['translation.l2_policy'])
        self.l2_free = 0
        self.l2_registers = {}  # page -> ports
        self.l2_held = deque()
        self.levels = p['translation.levels']
        self.walk_caches = {k: Cache(p['translation.walk_cache_%d' % k], p['translation.walk_cache_ways'], 'LRU')
                            for k in range(1, self.levels)}
        self.walkers_free = p['translation.walkers']
        self.walks_queued = deque()
        self.walk_step = p['translation.walk_step'] or self._mean_access()
        self.pace = transfer(p['noc.flit_size'], p['scaleup.port_rate'])

    def _mean_access(self):
        machine, fabric = self.gpu.machine, self.gpu.fabric
        ways = [fabric.lone((PORT, at), (MEMORY, machine.stack_router(stack, at)), machine.control)
                for at in machine.port_router for stack in range(machine.stacks)]
        return self.p['hbm.access_latency'] + sum(ways) // len(ways)

    def caches(self):
        yield ('l2', '0'), self.l2
        for port in self.ports:
            yield ('l1', str(port.number)), port.cache
        for k, cache in self.walk_caches.items():
            yield ('walk_cache', str(k)), cache

    # What comes in at a port

    def request(self, time, port, line, way):
        """A store or flag of another node will be in at the port at `time`."""
        page = line.destination[1] // self.gpu.machine.page
        request = Request(time, page, way, True)
        if self.full:
            self.events.local(time + self.p['translation.l1_latency'], self._lookup, self.ports[port], request)
        else:
            self.events.local(time, self._admit, request)

    def own_node(self, time, port, way):
        self.events.local(time, self._lookup, self.ports[port], Request(time, None, way, False))

    def ahead(self, now, time, port, page, into_l1):
        """A request ahead of a store will be in at the port at `time`."""
        self.events.local(time + self.p['translation.l1_latency'], self._ahead, self.ports[port], page, into_l1)

    def _ahead(self, now, port, page, into_l1):
        if not into_l1:
            self._ask_l2(now, None, page)
        elif not port.cache.has(page) and page not in port.registers and not port.held and self._room(port, page):
            port.waiting += 1
            port.registers[page] = [AHEAD]
            self._ask_l2(now, port, page)

    def _admit(self, now, request):
        if request.translated:
            self.gpu.pod.results.translations.append(now - request.came)
            self.gpu.pod.results.l1_hits += not self.full
        self.gpu.enter(now, *request.way)

    def _lookup(self, now, port, request):
        if port.held:
            port.held.append(request)
            if not port.due:
                port.behind += 1
        elif self._known(port, request):
            self._admit(now, request)
        elif not self._wait(now, port, request):
            port.held.append(request)

    def _known(self, port, request):
        if not request.translated:
            return True
        hit = port.cache.lookup(request.page)
        self.gpu.pod.results.l1_hits += hit
        return hit

    def _room(self, port, page):
        most = self.p['translation.l1_mshrs']
        if self.p['translation.l1_mshr_holds'] == 'request':
            return port.waiting < most
        return page in port.registers or len(port.registers) < most

    def _wait(self, now, port, request):
        """In a register, if there is room."""
        if not self._room(port, request.page):
            return False
        port.waiting += 1
        if request.page in port.registers:
            self.gpu.pod.results.l1_joined += 1
            port.registers[request.page].append(request)
        else:
            port.registers[request.page] = [request]
            self._ask_l2(now, port, request.page)
        return True

    # L2 and walks

    def _ask_l2(self, now, port, page):
        start = max(now, self.l2_free)
        self.l2_free = start + self.p['translation.l2_interval']
        self.events.local(start + self.p['translation.l2_latency'], self._l2_done, port, page)

    def _l2_done(self, now, port, page):
        if port is None:
            if not self.l2_held and not self.l2.lookup(page) and page not in self.l2_registers:
                if len(self.l2_registers) < self.p['translation.l2_mshrs']:
                    self.l2_registers[page] = []
                    self.events.local(now + self.p['translation.walk_cache_latency'], self._walk_caches_done, page)
            return
        if self.l2_held or not self._l2_try(now, port, page):
            self.l2_held.append((port, page))

    def _l2_try(self, now, port, page):
        """False: no register is free."""
        if self.l2.lookup(page):
            self._answer(now, port, page)
            return True
        if page in self.l2_registers:
            self.l2_registers[page].append(port)
            return True
        if len(self.l2_registers) == self.p['translation.l2_mshrs']:
            return False
        self.l2_registers[page] = [port]
        self.events.local(now + self.p['translation.walk_cache_latency'], self._walk_caches_done, page)
        return True

    def _key(self, page, k):
        shift = k * self.p['translation.level_bits']
        return page >> shift if shift < 32 else 0

    def _walk_caches_done(self, now, page):
        left = next((k for k, cache in self.walk_caches.items() if cache.lookup(self._key(page, k))), self.levels)
        if self.walkers_free:
            self.walkers_free -= 1
            self._begin_access(now, page, left)
        else:
            self.walks_queued.append((page, left))

    def _begin_access(self, now, page, left):
        self.events.local(now + self.walk_step, self._accessed, page, left - 1)

    def _accessed(self, now, page, left):
        if left:
            self.walk_caches[left].fill(self._key(page, left))
            self._begin_access(now, page, left)
            return
        self.gpu.pod.results.walks += 1
        self.l2.fill(page)
        for port in self.l2_registers.pop(page):
            self._answer(now, port, page)
        if self.walks_queued:
            self._begin_access(now, *self.walks_queued.popleft())
        else:
            self.walkers_free += 1
        while self.l2_held and self._l2_try(now, *self.l2_held[0]):
            self.l2_held.popleft()

    def _answer(self, now, port, page):
        requests = port.registers.pop(page)
        port.waiting -= len(requests)
        port.cache.fill(page)
        for request in requests:
            if request is not AHEAD:
                self._admit(now, request)
        if port.held and not port.due:
            self._unblock(now, port)

    # Blocked ports

    def _unblock(self, now, port):
        if port.behind:
            output = self.gpu.outputs[port.number]
            output.free_at = max(output.free_at, now) + port.behind * self.pace
            port.behind = 0
        self._try_first(now, port)

    def _try_first(self, now, port):
        port.due = False
        request = port.held[0]
        goes_on = self._known(port, request)
        if not goes_on and not self._wait(now, port, request):
            return
        port.held.popleft()
        if port.held:
            port.due = True
            self.events.local(now + self.pace, self._try_first, port)
        if goes_on:
            self._admit(now, request)
