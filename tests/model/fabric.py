"""The fabric of one GPU: docs/model/network.md, "Mesh" and "Uniform fabric"."""

from order import ARRIVAL, INSIDE_MESH, Server, transfer

CU, MEMORY, PORT = range(3)  # kinds of attachment, in the order of service
KIND_NAMES = ('CUs', 'memory', 'port')

# How a head came to its router, in the order of service.
EAST, WEST, SOUTH, NORTH, INJECTED = range(5)
STEPS = {EAST: (1, 0), WEST: (-1, 0), SOUTH: (0, 1), NORTH: (0, -1)}


class Uniform:
    def __init__(self, events, machine):
        self.events = events
        self.latency = machine.p['noc.uniform_latency']

    def send(self, now, source, target, size, handler, *args):
        self.events.local(now + self.latency, handler, *args)

    def lone(self, source, target, size):
        return self.latency

    def queues(self):
        return {}


class Mesh:
    """Attachments are (kind, router)."""

    def __init__(self, events, machine):
        p = machine.p
        self.events = events
        self.machine = machine
        self.injection_latency = p['noc.injection_latency']
        self.hop_latency = p['noc.hop_latency']
        self.crossing_latency = p['noc.die_crossing_latency']
        self.ejection_latency = p['noc.ejection_latency']
        self.rates = p['noc.injection_rate'], p['noc.link_rate'], p['noc.ejection_rate']
        self.injection, self.links, self.ejection = {}, {}, {}

    def tail(self, size):
        return max(transfer(size, rate) for rate in self.rates)

    def lone(self, source, target, size):
        """How long a packet takes that meets no other."""
        (x, y), (to_x, to_y) = source[1], target[1]
        time = self.injection_latency + self.ejection_latency + self.tail(size)
        crossings = abs(self.machine.die(x) - self.machine.die(to_x))
        return time + (abs(x - to_x) + abs(y - to_y)) * self.hop_latency + crossings * self.crossing_latency

    def send(self, now, source, target, size, handler, *args):
        server = self.injection.get(source)
        if server is None:
            server = self.injection[source] = Server(self.rates[0])
        start = server.take(now, size)
        packet = target, size, handler, args
        self._reach(start + self.injection_latency, source[1], INJECTED + source[0], packet)

    def _reach(self, time, router, came, packet):
        self.events.at(time, (INSIDE_MESH, came), self._at_router, router, packet)

    def _at_router(self, now, router, packet):
        target, size, handler, args = packet
        kind, (to_x, to_y) = target
        x, y = router
        if x != to_x:
            way = EAST if x < to_x else WEST
        elif y != to_y:
            way = SOUTH if y < to_y else NORTH
        else:
            server = self.ejection.get(target)
            if server is None:
                server = self.ejection[target] = Server(self.rates[2])
            start = server.take(now, size)
            rank = (ARRIVAL, kind, y, x, size)
            self.events.at(start + self.ejection_latency + self.tail(size), rank, handler, *args)
            return
        step = STEPS[way]
        following = x + step[0], y + step[1]
        server = self.links.get((router, following))
        if server is None:
            server = self.links[router, following] = Server(self.rates[1])
        start = server.take(now, size)
        latency = self.hop_latency
        if self.machine.die(x) != self.machine.die(following[0]):
            latency += self.crossing_latency
        self._reach(start + latency, following, way, packet)

    def queues(self):
        found = {}
        for (a, b), server in self.links.items():
            found['mesh_link', '(%d %d)->(%d %d)' % (a + b)] = server
        for name, servers in (('injection', self.injection), ('ejection', self.ejection)):
            for (kind, (x, y)), server in servers.items():
                found[name, '(%d %d) %s' % (x, y, KIND_NAMES[kind])] = server
        return found
