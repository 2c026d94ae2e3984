"""Machines and copies for the comparison of host copies."""

import random

from host import Copy, Host
from results import ns


class HostCase:
    def __init__(self, number, seed, kind):
        self.kind = kind
        self.number = number
        self.seed = seed
        self.parameters = draw(number, seed)[0]

    def plan(self):
        return ' '.join(copy.option() for copy in self.copies())

    def copies(self):
        """Anew: a run changes them."""
        return draw(self.number, self.seed)[1]

    def command(self):
        transfers = [word for copy in self.copies() for word in ('--transfer', copy.option())]
        return ['host', '--engine', 'native'] + transfers

    def told(self):
        """What the model says: {(table, name): value}."""
        host = Host(self.parameters, self.copies()).run()
        found = {('summary', str(number)): ns(copy.time) for number, copy in enumerate(host.copies)}
        found.update({('links', *key): value for key, value in host.queues().items()})
        return found

    def read(self, table, folder):
        """What nunasim says."""
        found = {('summary', row['transfer']): row['time_ns'] for row in table(folder / 'summary.csv')}
        for row in table(folder / 'links.csv'):
            if row['bytes'] != '0':
                found['links', row['kind'], row['name']] = row['bytes'], row['busy_ns']
        return found


def draw(number, seed):
    """Parameters and copies."""
    r = random.Random('host %d/%d' % (seed, number))
    even = r.random() < 0.5

    def time(low, high):
        return r.choice((1, 2, 3)) * 100000 if even else r.randint(low, high)

    def rate():
        return r.choice((16, 32, 64)) * 10**9 if even else r.randint(10**9, 4 * 10**11)

    gpus = r.choice((1, 2, 4, 4, 6, 8))
    p = {'pod.gpus': gpus, 'pod.gpus_per_node': 1, 'noc.fabric': 'uniform', 'noc.control_size': r.choice((16, 64)),
         'hbm.access_latency': time(1, 500000), 'scaleup.ports': r.choice((1, 2, 4, 6)), 'scaleup.port_rate': rate(),
         'scaleup.link_latency': time(10000, 300000), 'scaleup.switch_latency': time(0, 300000)}
    p['host.sockets'] = r.choice([n for n in (1, 2, 3, 4) if gpus % n == 0])
    for key in ('dram', 'socket_link', 'far_read', 'far_write', 'far_gpu', 'pcie', 'memory'):
        p['host.%s_rate' % key] = rate()
    for key in ('dram', 'socket_link'):
        p['host.%s_latency' % key] = time(0, 400000)
    p['host.pcie_latency'] = time(10000, 800000)
    p['host.piece_size'] = piece = 8000 if even else r.choice((1000, 8192, 16384, 64, 777))
    for key in ('read', 'peer'):
        p['host.%s_window' % key] = r.choice((1, piece, piece + 1, 3 * piece, 20 * piece))
    p['host.copy_launch'] = time(0, 6000000)
    p['host.copy_gap'] = time(0, 3000000)
    p['host.wake_time'] = time(0, 10000000)
    p['host.copies'] = r.choice(('sync', 'async'))
    p['host.buffer'] = r.choice(('target', 'other', 'interleaved', 'interleaved', 'each'))
    p['host.buffer_page'] = r.choice((4096, 8192, 65536))
    # One copy for each GPU at most: what copies share are links and memories, not engines.
    copies, gpu_of = [], r.sample(range(gpus), r.randint(1, min(gpus, 4)))
    for gpu in gpu_of:
        direction = r.choice(('h2d', 'd2h', 'p2p') if gpus > 1 else ('h2d', 'd2h'))
        peer = r.choice([other for other in range(gpus) if other != gpu]) if direction == 'p2p' else None
        copies.append(Copy(direction, r.choice((r.randint(1, 60 * piece), 20 * piece)), gpu, peer))
    return p, copies
