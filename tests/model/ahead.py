"""Translation requests ahead of stores: docs/model/translation.md, "Requests ahead"."""

from fabric import CU, PORT


def send(gpu, now, cu, peer, port, page, into_l1):
    machine = gpu.machine
    gpu.pod.results.ahead += 1
    gpu.fabric.send(now, (CU, cu.router), (PORT, machine.port_router[port]), machine.control,
                    gpu.leave, port, peer, machine.control, peer.mmu.ahead, port, page, into_l1)


def ports(peer, position, size, into_l1):
    """Whom to ask for a stretch of one page."""
    first = peer.locate(position)[2]
    found = [first]
    if into_l1:
        step = peer.machine.line
        for at in range(position + step, position + size, step):
            port = peer.locate(at)[2]
            if port == first:
                break
            found.append(port)
    return found


def stretches(position, size, page):
    """Cut at page boundaries: (position, size)."""
    end = position + size
    while position < end:
        to = min(end, (position // page + 1) * page)
        yield position, to - position
        position = to


class Prefetcher:
    """Of one GPU."""

    def __init__(self, gpu):
        p = gpu.machine.p
        self.gpu = gpu
        self.into_l1 = p['translation.prefetch'] == 'L1+L2'
        self.distance = (p['translation.prefetch_distance'] + p['translation.prefetch_lines'] * p['noc.flit_size']
                         + p['translation.prefetch_pages'] * p['hbm.page_size'])

    def _ask(self, now, cu, peer, position, size):
        for port in ports(peer, position, size, self.into_l1):
            send(self.gpu, now, cu, peer, port, position // self.gpu.machine.page, self.into_l1)
            cu.free_at = max(cu.free_at, now) + cu.interval

    def line_loads(self, now, cu, line):
        peer = self.gpu.pod.gpus[line.destination[0]]
        if self.gpu.pod.same_node(self.gpu, peer):
            return
        chunk, page = line.chunk, self.gpu.machine.page
        while chunk.covered < chunk.end and chunk.covered <= line.destination[1] + self.distance:
            position, size = next(stretches(chunk.covered, chunk.end - chunk.covered, page))
            self._ask(now, cu, peer, position, size)
            chunk.covered += size

    def put_begins(self, now, threadblock):
        plan = self.gpu.pod.plan
        for kind, *what in threadblock.operations[threadblock.next + 1:]:
            if kind == 'put':
                return
            if kind == 'signal':
                number, channel = plan.connected[self.gpu.number, what[0]]
                peer = self.gpu.pod.gpus[number]
                if not self.gpu.pod.same_node(self.gpu, peer):
                    self._ask(now, threadblock.cu, peer, peer.flag_position(channel), self.gpu.machine.control)
                return


class Pretranslator:
    """Of one GPU: what it asks for before the collective."""

    def __init__(self, gpu):
        p = gpu.machine.p
        self.gpu = gpu
        self.interval = p['gpu.issue_interval']
        self.into_l1 = p['translation.pretranslate'] == 'L1+L2'
        uses = sorted(use for t in gpu.executor.threadblocks for use in self._uses(t))
        pages = list(dict.fromkeys((peer, position // gpu.machine.page) for _, _, peer, position, _ in uses))
        kept = set(pages[:-(-len(pages) * p['translation.pretranslate_pages'] // 100)])
        asked = set()
        self.requests = []  # CU, peer, port, page
        for _, t, number, position, size in uses:
            peer, page = gpu.pod.gpus[number], position // gpu.machine.page
            if (number, page) not in kept:
                continue
            for port in ports(peer, position, size, self.into_l1):
                key = (number, page, port) if self.into_l1 else (number, page)
                if key not in asked:
                    asked.add(key)
                    self.requests.append((gpu.executor.threadblocks[t].cu, peer, port, page))

    def _uses(self, threadblock):
        """(number, threadblock, GPU, position, bytes)."""
        gpu, plan, pod = self.gpu, self.gpu.pod.plan, self.gpu.pod
        number = 0
        for kind, *what in threadblock.operations:
            if kind == 'signal':
                peer, channel = plan.connected[gpu.number, what[0]]
                accesses = [(peer, pod.gpus[peer].flag_position(channel), gpu.machine.control)]
            elif kind == 'put':
                accesses = [(to[0], pod.placement.position_of(to), plan.length(to)) for _, to in what[0]]
            else:
                continue
            for peer, position, size in accesses:
                if not pod.same_node(gpu, pod.gpus[peer]):
                    for at, part in stretches(position, size, gpu.machine.page):
                        yield number, threadblock.number, peer, at, part
                        number += 1

    def next(self, now):
        if self.requests:
            send(self.gpu, now, *self.requests.pop(0), self.into_l1)
            self.gpu.events.local(now + self.interval, self.next)
