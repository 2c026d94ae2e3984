"""The machine of one GPU, from positions to ports: docs/model/machine.md.

Parameters are a dictionary by the keys of the configuration, in picoseconds, bytes, bytes per second.
"""

from collections import Counter

MASK = 2**64 - 1


def mix(page):
    p = page ^ (page >> 32)
    p = p * 0x9E3779B97F4A7C15 & MASK
    p ^= p >> 29
    p = p * 0xBF58476D1CE4E5B9 & MASK
    return p >> 32


def hops(a, b):
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


class Machine:
    def __init__(self, parameters):
        self.p = parameters
        self.columns = parameters['noc.columns']
        self.rows = parameters['noc.rows']
        self.dies = parameters['noc.dies']
        self.line = parameters['noc.flit_size']
        self.control = parameters['noc.control_size']
        self.page = parameters['hbm.page_size']
        self.stacks = parameters['hbm.stacks']
        self.channels = parameters['hbm.channels_per_stack']
        self.ports = parameters['scaleup.ports']
        self.cus_per_router = parameters['gpu.cus_per_router']
        self.cus = self.columns * self.rows * self.cus_per_router
        self.port_router = [self._port_router(p) for p in range(self.ports)]
        self.mixed = {}
        self.visits = self._by_dies() if parameters['hbm.page_order'] == 'dies' else list(range(self.stacks))

    def die(self, x):
        return x * self.dies // self.columns

    def cu_router(self, cu):
        router = cu // self.cus_per_router
        return router % self.columns, router // self.columns

    def stack_router(self, stack, to):
        """The router of the stack that is nearest to the router `to`."""
        along = self.stacks // 2 if self.stacks % 2 == 0 else self.stacks
        place = stack % along
        first = place * self.columns // along
        last = max(first, (place + 1) * self.columns // along - 1)
        return min(max(to[0], first), last), 0 if stack < along else self.rows - 1

    def _port_router(self, port):
        left = self.ports // 2 or 1
        return 0 if port < left else self.columns - 1, (port % left) * self.rows // left

    def _by_dies(self):
        """Stacks in the order `dies`: by place among those of their die and edge, then edge, then die."""
        above = self.stacks // 2 if self.stacks % 2 == 0 else self.stacks
        seen, keys = Counter(), {}
        for stack in range(self.stacks):
            edge, along = divmod(stack, above)
            die = along * self.columns // above * self.p['noc.dies'] // self.columns
            keys[stack] = seen[edge, die], edge, die
            seen[edge, die] += 1
        return sorted(keys, key=keys.get)

    def default_stack(self, page):
        return self.visits[page % self.stacks]

    def locate(self, position, frames):
        """Stack, channel and port of a position; frames: page -> (stack, domains, domain)."""
        page, offset = divmod(position, self.page)
        line = offset // self.line
        if page not in self.mixed:
            self.mixed[page] = mix(page)
        hashed = self.mixed[page]
        stack, domains, domain = frames.get(page) or (self.default_stack(page), 1, 0)
        of_domain = self.ports // domains
        channel = (line + (hashed & 0xFFFF)) % self.channels
        turn = line // self.p['scaleup.port_grain']
        return stack, channel, domain * of_domain + (turn + (hashed >> 16)) % of_domain
