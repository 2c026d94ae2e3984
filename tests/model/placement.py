"""Compute units, pages and the memory image: docs/model/placement.md, machine.md."""

from collections import Counter, defaultdict
from math import gcd

from machine import hops

LOAD, STORE, REMOTE = range(3)  # what a threadblock does first with a chunk


class OfGpu:
    """What was decided for one GPU."""

    def __init__(self):
        self.cus = {}  # threadblock -> CU
        self.domains = {}  # threadblock -> domain
        self.positions = {}  # chunk -> position
        self.frames = {}  # page -> (stack, domains, domain)
        self.flags = {}  # channel -> position
        self.flags_begin = 0


class Placement:
    def __init__(self, machine, plan, policy, domains):
        self.machine = machine
        self.plan = plan
        self.name, _, nar = policy.partition('+')
        self.nar = nar == 'NAR'
        self.domains = domains
        self.lengths = {}
        self.accesses = [[self._accesses(gpu, operations) for operations in of_gpu]
                         for gpu, of_gpu in enumerate(plan.threadblocks)]
        self.tables = self.nar or self.name == 'NAP'
        self._image(None)
        self._decide()
        if self.tables:
            self._image(self._domains_of_chunks())
            self._decide()
        self._flags()

    def of_gpu(self, gpu):
        return self.gpus[gpu]

    def position_of(self, chunk):
        return self.gpus[chunk[0]].positions[chunk]

    def length(self, chunk):
        if chunk not in self.lengths:
            self.lengths[chunk] = self.plan.length(chunk)
        return self.lengths[chunk]

    # Threadblocks

    def _accesses(self, gpu, operations):
        """{chunk: what is done with it first}, in order."""
        found = {}
        for kind, *what in operations:
            if kind in ('put', 'copy'):
                sources = [source for source, _ in what[0]]
                destinations = [destination for _, destination in what[0]]
            elif kind == 'reduce':
                sources, destinations = what[0], [what[1]]
            else:
                continue
            for chunk in sources:
                found.setdefault(chunk, LOAD)
            for chunk in destinations:
                found.setdefault(chunk, STORE if chunk[0] == gpu else REMOTE)
        return found

    def in_plan_order(self):
        return [(gpu, t) for gpu, of_gpu in enumerate(self.accesses) for t in range(len(of_gpu))]

    def in_turn(self):
        return sorted(self.in_plan_order(), key=lambda threadblock: (threadblock[1], threadblock[0]))

    # The memory image

    def _up(self, position):
        return -(-position // self.machine.page) * self.machine.page

    def _image(self, domains):
        """domains: chunk -> domain where chunks are sorted by it."""
        self.gpus = [OfGpu() for _ in range(self.plan.gpus)]
        page = self.machine.page
        for gpu, of_gpu in enumerate(self.gpus):
            position = 0
            for buffer, _ in self.plan.buffers():
                chunks = self.plan.chunks(gpu, buffer)
                if domains is None:
                    parts = [chunks]
                else:
                    parts = [[c for c in chunks if self.length(c) >= page]]
                    for d in list(range(self.domains)) + [None]:
                        parts.append([c for c in chunks if self.length(c) < page and domains.get(c) == d])
                for part in parts:
                    position = self._up(position)
                    for chunk in part:
                        if position % page + self.length(chunk) > page:
                            position = self._up(position)
                        of_gpu.positions[chunk] = position
                        position += self.length(chunk)
                position = self._up(position)
            of_gpu.flags_begin = position

    def _domains_of_chunks(self):
        found = {}
        for gpu, t in self.in_plan_order():
            for chunk, role in self.accesses[gpu][t].items():
                if self.name == 'NAP' or role == REMOTE:
                    found.setdefault(chunk, self.gpus[gpu].domains[t])
        return found

    def _pages(self, chunk):
        length = self.length(chunk)
        if not length:
            return range(0)
        position = self.position_of(chunk)
        return range(position // self.machine.page, (position + length - 1) // self.machine.page + 1)

    # Decisions

    def _decide(self):
        if self.name in ('NAP', 'NAP*'):
            Algorithm1(self)
        else:
            self._round_robin() if self.name == 'UA' else self._numa()
            if self.nar:
                for gpu, t in self.in_turn():
                    router = self.machine.cu_router(self.gpus[gpu].cus[t])
                    self.gpus[gpu].domains[t] = min(range(self.domains), key=lambda d: self.to_domain(router, d))
        if self.nar and self.name != 'NAP':
            self._route()

    def to_domain(self, router, domain):
        of_domain = self.machine.ports // self.domains
        ports = self.machine.port_router[domain * of_domain:(domain + 1) * of_domain]
        return sum(hops(router, port) for port in ports)

    def to_stack(self, router, stack):
        return hops(router, self.machine.stack_router(stack, router))

    def _round_robin(self):
        machine = self.machine
        width = machine.columns // machine.dies
        routers = width * machine.rows
        stride = max(routers * 618034 // 1000000, 1)
        while gcd(stride, routers) != 1:
            stride -= 1
        for gpu, t in self.in_plan_order():
            die, n = t % machine.dies, t // machine.dies
            y, x = divmod(n * stride % routers, width)
            place = n // routers % machine.cus_per_router
            router = y * machine.columns + die * width + x
            self.gpus[gpu].cus[t] = router * machine.cus_per_router + place

    def _numa(self):
        machine = self.machine
        for gpu, of_gpu in enumerate(self.gpus):
            count = [0] * machine.cus
            for t, accesses in enumerate(self.accesses[gpu]):
                loads = [chunk for chunk, role in accesses.items() if role == LOAD]
                if machine.p['placement.numa_near'] == 'all':
                    pages = [page for chunk in loads for page in self._pages(chunk) or [of_gpu.positions[chunk] // machine.page]]
                else:
                    pages = [of_gpu.positions[chunk] // machine.page for chunk in loads[:1]]
                near = Counter(map(machine.default_stack, pages)) or {0: 1}
                level = t // machine.cus + 1
                cu = min((cu for cu in range(machine.cus) if count[cu] < level),
                         key=lambda cu: sum(n * self.to_stack(machine.cu_router(cu), stack) for stack, n in near.items()))
                count[cu] += 1
                of_gpu.cus[t] = cu

    def _route(self):
        for gpu, t in self.in_turn():
            for chunk, role in self.accesses[gpu][t].items():
                if role == REMOTE:
                    frames = self.gpus[chunk[0]].frames
                    for page in self._pages(chunk):
                        frames.setdefault(page, (self.machine.default_stack(page), self.domains, self.gpus[gpu].domains[t]))

    def _flags(self):
        line, page = self.machine.line, self.machine.page
        for gpu, of_gpu in enumerate(self.gpus):
            position = of_gpu.flags_begin
            channels = range(self.plan.channel_count)
            if not self.tables:
                of_gpu.flags = {channel: position + channel * line for channel in channels}
                continue
            raisers = self._raisers(gpu)
            for d in range(self.domains):
                first = position // page
                for channel in channels:
                    if raisers.get(channel, 0) == d:
                        of_gpu.flags[channel] = position
                        position += line
                position = self._up(position)
                for number in range(first, position // page):
                    frame = self._flag_frame(number, d)
                    if frame:
                        of_gpu.frames[number] = frame

    def _raisers(self, gpu):
        """Channel -> domain of the first threadblock that raises it."""
        found = {}
        for peer, t in self.in_plan_order():
            for kind, *what in self.plan.threadblocks[peer][t]:
                if kind == 'signal':
                    target, channel = self.plan.connected[peer, what[0]]
                    if target == gpu:
                        found.setdefault(channel, self.gpus[peer].domains[t])
        return found

    def _flag_frame(self, page, domain):
        stack = self.machine.default_stack(page)
        if self.name == 'NAP':
            cu = min(range(self.machine.cus), key=lambda cu: self.to_domain(self.machine.cu_router(cu), domain))
            router = self.machine.cu_router(cu)
            stack = min(range(self.machine.stacks), key=lambda stack: self.to_stack(router, stack))
        return (stack, self.domains, domain) if self.nar else (stack, 1, 0)


class Algorithm1:
    def __init__(self, placement):
        self.placement = placement
        self.machine = machine = placement.machine
        p = machine.p
        self.cu_budget = p['placement.cu_budget']
        delay = p['hbm.access_latency'] + 2 * p['noc.injection_latency'] + 2 * p['noc.ejection_latency']
        self.stack_budget = p['hbm.channel_rate'] * machine.channels * delay // 10**12 + 1
        gpus = range(placement.plan.gpus)
        self.cus_left = [[self.cu_budget] * machine.cus for _ in gpus]
        self.stacks_left = [[self.stack_budget] * machine.stacks for _ in gpus]
        self.cus_by_distance = {}
        self.stacks_by_distance = {}
        self._group()
        self._order_groups()
        for step in self._steps():
            for gpu, t in step:
                self._place_threadblock(gpu, t)
            if placement.name == 'NAP':
                for own in (True, False):
                    for gpu, t in step:
                        for chunk in placement.accesses[gpu][t]:
                            if (chunk[0] == gpu) == own:
                                self._place_chunk(gpu, t, chunk)

    def _group(self):
        self.group_of = {}  # threadblock -> group
        owner = {}  # chunk -> group
        groups = 0
        for gpu, t in self.placement.in_turn():
            count = defaultdict(int)
            chunks = self.placement.accesses[gpu][t]
            for chunk in chunks:
                if chunk in owner:
                    count[owner[chunk]] += 1
            if count:
                group = min(count, key=lambda g: (-count[g], g))
            else:
                group, groups = groups, groups + 1
            self.group_of[gpu, t] = group
            for chunk in chunks:
                owner.setdefault(chunk, group)

    def _order_groups(self):
        members = {}  # in the order of the first threadblock in the plan
        for threadblock in self.placement.in_plan_order():
            members.setdefault(self.group_of[threadblock], []).append(threadblock)
        ordered = sorted(members, key=lambda group: -len(members[group]))
        ranks = defaultdict(int)
        self.size, self.place, self.domain = {}, {}, {}
        for number, group in enumerate(ordered):
            gpu = members[group][0][0]
            self.size[group] = len(members[group])
            self.place[group] = ranks[gpu]
            self.domain[group] = (number + 1) % self.placement.domains
            ranks[gpu] += 1

    def _steps(self):
        steps = defaultdict(list)
        for gpu, t in self.placement.in_plan_order():
            group = self.group_of[gpu, t]
            steps[-self.size[group], self.place[group], t].append((gpu, t))
        return [steps[key] for key in sorted(steps)]

    def _place_threadblock(self, gpu, t):
        placement, machine = self.placement, self.machine
        domain = self.domain[self.group_of[gpu, t]]
        if domain not in self.cus_by_distance:
            self.cus_by_distance[domain] = sorted(
                range(machine.cus), key=lambda cu: placement.to_domain(machine.cu_router(cu), domain))
        due = sum(-(-placement.length(chunk) // machine.line) for chunk in placement.accesses[gpu][t])
        cu = self._take(self.cus_left[gpu], self.cus_by_distance[domain], due, self.cu_budget)
        placement.gpus[gpu].cus[t] = cu
        placement.gpus[gpu].domains[t] = domain

    def _place_chunk(self, gpu, t, chunk):
        placement, machine = self.placement, self.machine
        frames = placement.gpus[chunk[0]].frames
        pages = [page for page in placement._pages(chunk) if page not in frames]
        if not pages:
            return
        router = machine.cu_router(placement.gpus[gpu].cus[t])
        if router not in self.stacks_by_distance:
            self.stacks_by_distance[router] = sorted(
                range(machine.stacks), key=lambda stack: placement.to_stack(router, stack))
        stack = self._take(self.stacks_left[chunk[0]], self.stacks_by_distance[router],
                           placement.length(chunk), self.stack_budget)
        domain = placement.gpus[gpu].domains[t]
        for page in pages:
            frames[page] = (stack, placement.domains, domain) if placement.nar else (stack, 1, 0)

    def _take(self, left, order, due, budget):
        due = min(due, budget)
        while True:
            for number in order:
                if left[number] >= due:
                    left[number] -= due
                    return number
            for number in range(len(left)):
                left[number] += budget
