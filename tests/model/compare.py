#!/usr/bin/env python3
"""compare.py NUNASIM [--count N] [--seed S]: draws machines and plans, runs NUNASIM and this model, and shows every difference.

The model knows the documents under docs/model only. COUNT and SEED in the environment are the options' defaults.
"""

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True

from fabric import CU, EAST, INJECTED, MEMORY, PORT, WEST, Mesh
from host import Host
from hostcases import HostCase
from order import Server
from pod import Gpu, Pod
from results import ns
from simulate import simulate
from threadblocks import ComputeUnit
from translation import Mmu

COLLECTIVES = ('allgather', 'alltoall', 'reducescatter', 'allreduce')
COUNTED = ('lookups', 'hits', 'fills', 'evictions')  # of every cache
UNITS = {'latency': 'ps', 'interval': 'ps', 'step': 'ps', 'lead': 'ps', 'launch': 'ps', 'gap': 'ps', 'time': 'ps', 'window': 'B', 'page': 'B', 'distance': 'B', 'rate': 'B/s', 'size': 'B', 'capacity': 'B'}


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def write(parameters, path):
    """As a configuration."""
    sections = {}
    for key, value in parameters.items():
        section, name = key.split('.')
        unit = UNITS.get(name.rpartition('_')[2], '') if isinstance(value, int) else ''
        sections.setdefault(section, []).append('  %s: %s%s\n' % (name, value, unit))
    path.write_text(''.join('%s:\n%s' % (section, ''.join(lines)) for section, lines in sections.items()))


class Case:
    def __init__(self, number, seed, kind):
        self.random = random.Random('%d/%d' % (seed, number))
        self.number = number
        self.kind = kind
        # Where all times are multiples of a large step much happens at one time, and the order at ties shows.
        self.step = self.random.choice((1, 1, 2000, 10000, 10000))
        self.own_apart = False
        self.parameters = {}
        self._machine()
        self._pod()
        self._collective()
        if 'translated' in kind:
            self._translation()
        self._policy()
        if 'ahead' in kind:
            self._ahead()

    def time(self, low, high):
        value = self.random.randint(low, high)
        if self.step == 10000 and high >= 10000:
            return self.step * self.random.choice((1, 1, 2, 3))
        return -(-value // self.step) * self.step

    def rate(self):
        if self.step == 10000:
            return 128 * 10**9
        if self.step > 1:
            return self.random.choice((64, 128, 256)) * 10**9
        return self.random.choice((self.random.randint(20, 600) * 10**9, self.random.randint(2 * 10**10, 6 * 10**11)))

    def _machine(self):
        r, p = self.random, self.parameters
        columns = r.choice((1, 2, 3, 4, 5, 6, 6))
        p['noc.fabric'] = 'uniform' if self.kind.startswith('uniform') else 'mesh'
        p['noc.columns'] = columns
        p['noc.rows'] = rows = r.choice((1, 2, 2, 3, 3))
        p['noc.dies'] = r.choice([d for d in divisors(columns) if d <= 4])
        p['noc.flit_size'] = r.choice((64, 128, 256, 256, 512, 100) if self.step == 1 else (256, 512))
        p['noc.control_size'] = r.choice((16, 16, 8, 32, 1) if self.step == 1 else (16, p['noc.flit_size']))
        p['noc.hop_latency'] = self.time(1, 12000)
        p['noc.die_crossing_latency'] = r.choice((0, self.time(1, 30000)))
        p['noc.uniform_latency'] = self.time(1, 200000)
        for link in ('injection', 'ejection'):
            p['noc.%s_latency' % link] = self.time(1, 40000)
            p['noc.%s_rate' % link] = self.rate()
        p['noc.link_rate'] = self.rate()
        p['gpu.cus_per_router'] = r.randint(1, 3)
        p['gpu.max_outstanding'] = r.choice((1, 2, 3, 5, 16, 700))
        p['gpu.issue_interval'] = self.time(1, 3000)
        p['gpu.reduce_rate'] = self.rate()
        p['hbm.stacks'] = r.choice([s for s in range(1, 7) if (s if s % 2 else s // 2) <= columns])
        p['hbm.channels_per_stack'] = r.randint(1, 6)
        p['hbm.channel_rate'] = self.rate()
        p['hbm.access_latency'] = self.time(1, 150000)
        p['hbm.page_size'] = p['noc.flit_size'] * r.choice((4, 8, 16, 16, 10000))  # whole lines
        p['hbm.page_order'] = r.choice(('neighbours', 'dies'))
        p['scaleup.port_grain'] = r.choice((1, 1, 2, 8))
        p['placement.numa_near'] = r.choice(('first', 'all'))
        p['translation.mode'] = p['translation.pretranslate'] = p['translation.prefetch'] = 'off'
        p['scaleup.ports'] = r.choice([2 * n for n in range(1, rows + 1)])
        p['scaleup.port_rate'] = self.rate()
        p['scaleup.link_latency'] = self.time(10000, 300000)
        p['scaleup.switch_latency'] = self.time(0, 200000)

    def _pod(self):
        r, p = self.random, self.parameters
        p['pod.gpus'] = gpus = r.randint(2, 5)
        p['pod.gpus_per_node'] = r.choice(divisors(gpus))

    def _collective(self):
        r, p = self.random, self.parameters
        self.ring = 'ring' in self.kind
        self.collective = r.choice(COLLECTIVES)
        self.own_apart = self.collective == 'alltoall' and not self.ring and r.random() < 0.3
        p['collective.channels'] = r.randint(1, 4)
        p['collective.size'] = r.choice((r.randint(1, 300), r.randint(1, 5000), r.randint(1, 20000)))

    def _policy(self):
        r, p = self.random, self.parameters
        policies = {'UA': ('UA',), 'NAR': ('UA+NAR',), 'NUMA': ('NUMA', 'NUMA+NAR'),
                    'NAP': ('NAP', 'NAP+NAR', 'NAP*', 'NAP*+NAR')}
        name = next((name for name in ('NAR', 'NUMA', 'NAP') if name in self.kind), 'UA')
        p['placement.policy'] = policy = r.choice(policies[name])
        p['placement.nar_domains'] = 1
        if policy not in ('UA', 'NUMA'):
            p['placement.nar_domains'] = r.choice([d for d in divisors(p['scaleup.ports']) if d <= p['hbm.stacks']])
        p['placement.cu_budget'] = r.choice((1, 5, 20, 700))

    def _translation(self):
        r, p = self.random, self.parameters
        # Some stores stay within their node and some do not.
        p['pod.gpus'], p['pod.gpus_per_node'] = r.choice(((2, 1), (3, 1), (4, 1), (4, 2), (4, 2), (6, 3), (5, 1)))
        small = (1, 1, 2, 3, 8, 256)
        p['translation.mode'] = r.choice(('full', 'full', 'full', 'full', 'ideal'))
        for cache in ('l1', 'l2', 'walk_cache'):
            p['translation.%s_ways' % cache] = ways = r.choice((0, 0, 1, 2))
            for entries in ['%s_%d' % (cache, k) for k in range(1, 5)] if cache == 'walk_cache' else [cache + '_entries']:
                p['translation.' + entries] = r.randint(1, 5) * (ways or 1)
            p['translation.%s_latency' % cache] = self.time(0, 60000)
        for cache in ('l1', 'l2'):
            p['translation.%s_policy' % cache] = r.choice(('LRU', 'FIFO', 'random'))
            p['translation.%s_mshrs' % cache] = r.choice(small)
        p['translation.l1_mshr_holds'] = r.choice(('request', 'request', 'page'))
        # Ports block where much comes in at few of them.
        p['scaleup.ports'] = r.choice([n for n in (1, 2, 2, 4) if n <= 2 * p['noc.rows']])
        p['collective.size'] = max(p['collective.size'], r.randint(1, 15000))
        p['translation.l2_interval'] = self.time(1, 3000)
        p['translation.levels'] = r.randint(1, 5)
        p['translation.level_bits'] = r.choice((1, 2, 9, 16))
        p['translation.walkers'] = r.choice(small)
        p['translation.walk_step'] = r.choice((0, self.time(1, 300000)))

    def _ahead(self):
        r, p = self.random, self.parameters
        p['translation.mode'] = 'full'
        for way in r.choice((('pretranslate',), ('prefetch',), ('pretranslate', 'prefetch'))):
            p['translation.' + way] = r.choice(('L2', 'L1+L2'))
        p['translation.pretranslate_lead'] = r.choice((self.time(0, 2000000), 5 * p['gpu.issue_interval']))
        p['translation.pretranslate_pages'] = r.choice((0, 20, 50, 100))
        p['translation.prefetch_distance'] = r.choice((0, r.randint(0, 5000)))
        p['translation.prefetch_lines'] = r.randint(0, 5)
        p['translation.prefetch_pages'] = r.randint(0, 2)

    def simulate(self):
        return simulate(self.parameters, self.collective, self.ring, self.own_apart)

    def command(self):
        return ['run', '--plan', self.plan()]

    def told(self):
        return told(self.simulate())

    def read(self, table, folder):
        found = {}
        for column, value in table(folder / 'summary.csv')[0].items():
            found['summary', column] = value
        for row in table(folder / 'store_latency.csv'):
            found['store_latency', row['from_ns']] = row['stores']
        for row in table(folder / 'links.csv'):
            if row['bytes'] != '0':
                found['links', row['gpu'], row['kind'], row['name']] = row['bytes'], row['busy_ns'], row['max_queue_ns']
        for row in table(folder / 'placement.csv'):
            if row['kind'] == 'threadblock':
                found['threadblock', row['gpu'], row['index']] = row['cu']
        if self.parameters['translation.mode'] == 'full':
            for row in table(folder / 'tlb.csv'):
                found['tlb', row['gpu'], row['kind'], row['index']] = tuple(row[column] for column in COUNTED)
        return found

    def plan(self):
        options = ['builtin:' + self.collective]
        if self.ring:
            options.append('algorithm=ring')
        if self.own_apart:
            options.append('own=apart')
        return ','.join(options)


def table(path):
    with open(path, newline='') as file:
        return list(csv.DictReader(file))


def run(nunasim, case, folder):
    """What nunasim says: {(table, name): value}."""
    unasked = ('placement.nar_domains',) if case.parameters.get('placement.policy') in ('UA', 'NUMA') else ()
    write({key: value for key, value in case.parameters.items() if key not in unasked}, folder / 'config.yaml')
    command = [nunasim, *case.command(), '--config', folder / 'config.yaml', '--out', folder / 'out', '--quiet']
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or 'exit code %d' % done.returncode)
    return case.read(table, folder / 'out')


def told(pod):
    """The same of a run of the model."""
    found = {}
    for column, value in pod.results.summary().items():
        found['summary', column] = value
    for (first, _), count in pod.results.histogram().items():
        found['store_latency', ns(first)] = str(count)
    for gpu in pod.gpus:
        for (kind, name), server in gpu.queues().items():
            if server.bytes:
                found['links', str(gpu.number), kind, name] = (str(server.bytes), ns(server.busy()), ns(server.longest_wait))
        for name, cache in gpu.mmu.caches() if gpu.mmu and gpu.mmu.full else ():
            found['tlb', str(gpu.number), *name] = tuple(str(getattr(cache, column)) for column in COUNTED)
        for t, cu in gpu.placement.cus.items():
            found['threadblock', str(gpu.number), str(t)] = str(cu)
    return found


def differences(theirs, ours):
    """In the order of what decides: placement, then times, then queues."""
    found = []
    for key in sorted(set(theirs) | set(ours), key=lambda key: (('threadblock', 'summary', 'store_latency', 'links', 'tlb').index(key[0]), key)):
        a, b = theirs.get(key), ours.get(key)
        if key[0] == 'summary':
            if key not in ours:
                continue
            if isinstance(b, float):
                if abs(float(a) - b) <= 0.0011 + 1e-9 * abs(b):
                    continue
                b = '%.4f' % b
        if a != b:
            found.append('%s: nunasim %s, model %s' % (' '.join(key), a, b))
    return found


def swapped(order, a, b):
    """`order` with the class of what came in direction a and b exchanged."""
    return {a: b, b: a}.get(order, order)


def perturbations():
    """Rules of the model, each changed a little: name, and what to replace by what. A comparison that sees none of them proves
    nothing."""
    access, reach, take = Gpu.access, Mesh._reach, Server.take
    dram = Host._dram
    load, unblock, key = ComputeUnit._load, Mmu._unblock, Mmu._key

    def a_picosecond_later(self, now, stack, channel, size, handler, *args):
        access(self, now, stack, channel, size, lambda at, *rest: self.events.local(at + 1, handler, *rest), *args)

    def cu_last(self, time, router, came, packet):
        last = {INJECTED + CU: INJECTED + PORT, INJECTED + MEMORY: INJECTED + CU, INJECTED + PORT: INJECTED + MEMORY}
        reach(self, time, router, last.get(came, came), packet)

    def straight_on_last(self, time, router, came, packet):
        reach(self, time, router, swapped(swapped(came, EAST, INJECTED + PORT), WEST, INJECTED + MEMORY), packet)

    def forgetful(self, now, size):
        start = take(self, now, size)
        self.remainder = 0
        return start

    def thrifty(self, now, size):
        if self.free_at < now:
            self.free_at = now
        return take(self, now, size)

    def same_threadblock(self, now):
        load(self, now)
        if len(self.loading) > 1 and not self.half_loaded:
            self.loading.rotate(1)

    def first_is_behind(self, now, port):
        port.behind += len(port.held) > 0
        unblock(self, now, port)

    def slow_dram(self, socket, size):
        step = dram(self, socket, size)
        return step._replace(latency=step.latency + 1)

    return (
        ('memory one picosecond slower', Gpu, 'access', a_picosecond_later),
        ('at ties, compute units after memory and ports', Mesh, '_reach', cu_last),
        ('at ties, injected before what comes along', Mesh, '_reach', straight_on_last),
        ('remainders dropped', Server, 'take', forgetful),
        ('remainders kept by idle servers', Server, 'take', thrifty),
        ('messages of the farthest GPU first', Pod, 'message_rank', lambda self, a, b: -self.order.diff(a, b)),
        ('threadblocks load one after the other', ComputeUnit, '_load', same_threadblock),
        ('a blocked port counts the first as behind it', Mmu, '_unblock', first_is_behind),
        ('host memory one picosecond slower', Host, '_dram', slow_dram),
        ('walk caches keyed one level off', Mmu, '_key', lambda self, page, k: key(self, page, k - 1)),
    )


def unseen(compared):
    """Names of the perturbed rules that no case shows. compared: [(case, what nunasim says), ...]."""
    found = []
    for name, owner, attribute, changed in perturbations():
        kept = getattr(owner, attribute)
        setattr(owner, attribute, changed)
        try:
            if not any(differences(theirs, case.told()) for case, theirs in compared):
                found.append(name)
        finally:
            setattr(owner, attribute, kept)
    return found


KINDS = ('allpairs UA', 'ring UA', 'allpairs NAR', 'ring NAR', 'allpairs NUMA', 'allpairs NAP', 'ring NAP', 'uniform allpairs UA',
         'allpairs UA translated', 'uniform allpairs UA translated', 'ring NAR translated',
         'allpairs NAP translated', 'allpairs UA translated, ahead', 'ring NAP translated, ahead', 'host copies')


def main():
    options = argparse.ArgumentParser()
    options.add_argument('nunasim')
    options.add_argument('--count', type=int, default=int(os.environ.get('COUNT', 120)))
    options.add_argument('--seed', type=int, default=int(os.environ.get('SEED', 1)))
    options.add_argument('--only', type=int, help='the case of this number')
    options.add_argument('--kind', default='', help='only kinds that contain this')
    options.add_argument('--keep', help='folder that keeps the files of a case')
    options = options.parse_args()
    cases, failed, compared = Counter(), Counter(), []
    kinds = [kind for kind in KINDS if options.kind in kind]
    numbers = range(options.count) if options.only is None else [options.only]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(options.keep or folder)
        for number in numbers:
            kind = kinds[number % len(kinds)]
            case = (HostCase if kind == 'host copies' else Case)(number, options.seed, kind)
            cases[case.kind] += 1
            try:
                theirs = run(options.nunasim, case, folder)
            except RuntimeError as error:
                failed[case.kind] += 1
                print('case %d, %s: %s' % (number, case.kind, error))
                continue
            compared.append((case, theirs))
            found = differences(theirs, case.told())
            if found:
                failed[case.kind] += 1
                print('case %d, %s, %s: %d differences' % (number, case.kind, case.plan(), len(found)))
                for line in found[:12]:
                    print('  ' + line)
    for kind in kinds:
        print('%-30s %4d machines, %d differ' % (kind, cases[kind], failed[kind]))
    # With fewer cases than these chance decides what shows.
    blind = unseen(compared) if len(compared) >= 40 else []
    for name in blind:
        print('the comparison itself: no case shows the perturbed rule "%s"' % name)
    return 1 if failed or blind else 0


if __name__ == '__main__':
    sys.exit(main())
