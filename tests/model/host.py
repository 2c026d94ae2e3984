"""Native copies between host and GPUs, one for each GPU at most: docs/model/host.md."""

from typing import NamedTuple

from order import LOCAL, MESSAGE, Events, Server
from results import ns

HERE = (LOCAL,)


class Copy:
    """direction: h2d, d2h or p2p, which has a peer."""

    def __init__(self, direction, size, gpu, peer=None):
        self.direction = direction
        self.size = size
        self.gpu = gpu
        self.peer = peer
        self.issued = 0  # bytes
        self.in_flight = 0
        self.pieces = 0
        self.time = 0

    def option(self):
        peer = '' if self.peer is None else ':gpu%d' % self.peer
        return '%s:%dB:gpu%d%s' % (self.direction, self.size, self.gpu, peer)


class Step(NamedTuple):
    """Bytes go over a lane (or none), and a latency later the step has ended."""

    lane: object
    size: int
    latency: int
    rank: tuple  # of its end
    data: bool = True  # else an acknowledgement


class Lane:
    """A server, and the bytes that are told of it: without acknowledgements."""

    def __init__(self, rate):
        self.server = Server(rate)
        self.data = 0
        self.occupied = 0


class Host:
    def __init__(self, parameters, copies):
        self.p = parameters
        self.copies = copies
        self.events = Events()
        self.lanes = {}  # (kind, name) -> lanes by number

    def run(self):
        p = self.p
        for copy in self.copies:
            begin = p['host.copy_launch'] + p['host.pcie_latency'] + p['host.copy_gap']
            self.events.local(begin, self._issue, copy)
        self.events.run()
        return self

    # Pieces

    def _issue(self, now, copy):
        p = self.p
        most, page = p['host.piece_size'], p['host.buffer_page']
        window = p['host.peer_window' if copy.direction == 'p2p' else 'host.read_window']
        while copy.issued < copy.size and (not copy.in_flight or copy.in_flight + most <= window):
            size = min(most, copy.size - copy.issued)
            if p['host.buffer'] == 'interleaved' and copy.direction != 'p2p':
                size = min(size, page - copy.issued % page)
            steps = {'h2d': self._h2d, 'd2h': self._d2h, 'p2p': self._p2p}[copy.direction](copy, size)
            copy.issued += size
            copy.in_flight += size
            copy.pieces += 1
            self._go(now, copy, size, steps)

    def _go(self, now, copy, size, steps):
        """steps: what is still to be done."""
        if not steps:
            copy.in_flight -= size
            copy.time = now
            if copy.issued < copy.size:
                self._issue(now, copy)
            elif self.p['host.copies'] == 'sync':
                copy.time += self.p['host.wake_time']
            return
        step, *others = steps
        time = now
        if step.lane:
            start = step.lane.server.take(now, step.size)
            time = step.lane.server.free_at
            step.lane.occupied += time - start
            if step.data:
                step.lane.data += size
        self.events.at(time + step.latency, step.rank, self._go, copy, size, others)

    # Resources

    def _lane(self, kind, name, key, number=0):
        return self.lanes.setdefault((kind, name), {}).setdefault(number, Lane(self.p[key]))

    def _memory(self, gpu, size):
        return Step(self._lane('memory', 'gpu%d' % gpu, 'host.memory_rate'), size, self.p['hbm.access_latency'], HERE)

    def _socket(self, gpu):
        return gpu // (self.p['pod.gpus'] // self.p['host.sockets'])

    def _socket_of_memory(self, copy):
        own, sockets = self._socket(copy.gpu), self.p['host.sockets']
        return {
            'target': own,
            'each': own,
            'other': (own + 1) % sockets,
            'interleaved': (own + copy.issued // self.p['host.buffer_page']) % sockets,
        }[self.p['host.buffer']]

    def _link(self, begin, end, size):
        lane = self._lane('socket_link', 'socket %d->%d' % (begin, end), 'host.socket_link_rate')
        return Step(lane, size, self.p['host.socket_link_latency'], HERE)

    def _dram(self, socket, size):
        return Step(self._lane('dram', 'socket %d' % socket, 'host.dram_rate'), size, self.p['host.dram_latency'], HERE)

    # Directions

    def _h2d(self, copy, size):
        p, gpu = self.p, copy.gpu
        own, at = self._socket(gpu), self._socket_of_memory(copy)
        steps = [Step(None, 0, p['host.pcie_latency'], (MESSAGE, gpu)), self._dram(at, size)]
        if at != own:
            steps += [
                Step(self._lane('far_gpu_in', 'gpu%d' % gpu, 'host.far_gpu_rate'), size, 0, HERE),
                Step(self._lane('far_read', 'socket %d' % own, 'host.far_read_rate'), size, 0, HERE),
                self._link(at, own, size),
            ]
        down = self._lane('pcie_down', 'gpu%d' % gpu, 'host.pcie_rate')
        return steps + [Step(down, size, p['host.pcie_latency'], (MESSAGE, -1)), self._memory(gpu, size)]

    def _d2h(self, copy, size):
        p, gpu = self.p, copy.gpu
        own, at = self._socket(gpu), self._socket_of_memory(copy)
        up = self._lane('pcie_up', 'gpu%d' % gpu, 'host.pcie_rate')
        steps = [self._memory(gpu, size), Step(up, size, p['host.pcie_latency'], (MESSAGE, gpu))]
        if at != own:
            steps += [
                Step(self._lane('far_gpu_out', 'gpu%d' % gpu, 'host.far_gpu_rate'), size, 0, HERE),
                Step(self._lane('far_write', 'socket %d' % own, 'host.far_write_rate'), size, 0, HERE),
                self._link(own, at, size),
            ]
        return steps + [self._dram(at, size), Step(None, 0, p['host.pcie_latency'], (MESSAGE, -1))]

    def _over(self, begin, end, port, size, data=True):
        p = self.p
        rank = MESSAGE, (begin - end) % p['pod.gpus']
        return [
            Step(self._lane('ports_out', 'gpu%d' % begin, 'scaleup.port_rate', port), size,
                 p['scaleup.link_latency'] + p['scaleup.switch_latency'], rank, data),
            Step(self._lane('ports_in', 'gpu%d' % end, 'scaleup.port_rate', port), size,
                 p['scaleup.link_latency'], HERE, data),
        ]

    def _p2p(self, copy, size):
        port = copy.pieces % self.p['scaleup.ports']
        return ([self._memory(copy.gpu, size)] + self._over(copy.gpu, copy.peer, port, size)
                + [self._memory(copy.peer, size)]
                + self._over(copy.peer, copy.gpu, port, self.p['noc.control_size'], False))

    def queues(self):
        """(kind, name) -> bytes and busy time, all lanes together. Of ports acknowledgements count as time only."""
        found = {}
        for key, lanes in self.lanes.items():
            if key[0].startswith('ports'):
                busy = sum(lane.occupied for lane in lanes.values())
            else:
                busy = lanes[0].server.busy()
            data = sum(lane.data for lane in lanes.values())
            if data:
                found[key] = str(data), ns(busy)
        return found
