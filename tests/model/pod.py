"""GPUs, ports and switch planes, and the ways between them: docs/model/network.md, threadblocks.md."""

from ahead import Prefetcher, Pretranslator
from fabric import CU, MEMORY, PORT, Mesh, Uniform
from order import MESSAGE, Events, Relative, Server
from threadblocks import Chunk, Executor, Line
from translation import Mmu


class Gpu:
    def __init__(self, pod, number):
        self.pod = pod
        self.events = pod.events
        self.number = number
        self.machine = machine = pod.machine
        p = machine.p
        fabric = Mesh if p['noc.fabric'] == 'mesh' else Uniform
        self.fabric = fabric(pod.events, machine)
        rate = p['scaleup.port_rate']
        self.ports = [Server(rate) for _ in range(machine.ports)]
        self.outputs = [Server(rate) for _ in range(machine.ports)]  # of the switch planes, towards this GPU
        self.channels = {}
        self.placement = pod.placement.of_gpu(number)
        self.executor = Executor(self, self.placement.cus)
        self.mmu = Mmu(self) if p['translation.mode'] != 'off' else None
        self.prefetcher = Prefetcher(self) if self.mmu and p['translation.prefetch'] != 'off' else None
        self.last_landing = 0

    # Addresses

    def flag_position(self, channel):
        return self.placement.flags[channel]

    def locate(self, position):
        return self.machine.locate(position, self.placement.frames)

    def lines_of(self, threadblock, parts):
        """parts: [([source chunk, ...], destination chunk), ...]."""
        lines, step = [], self.machine.line
        plan, position_of = self.pod.plan, self.pod.placement.position_of
        for sources, destination in parts:
            size = min(plan.length(chunk) for chunk in sources + [destination])
            starts = [position_of(chunk) for chunk in sources]
            to = position_of(destination)
            chunk = Chunk(to, size)
            for at in range(0, size, step):
                lines.append(Line(threadblock, [start + at for start in starts], (destination[0], to + at),
                                  min(step, size - at), None, chunk))
        return lines

    # Memory

    def access(self, now, stack, channel, size, handler, *args):
        server = self.channels.get((stack, channel))
        if server is None:
            server = self.channels[stack, channel] = Server(self.machine.p['hbm.channel_rate'])
        server.take(now, size)
        self.events.local(server.free_at + self.machine.p['hbm.access_latency'], handler, *args)

    # A load: CU, memory, CU

    def load(self, now, cu, line, operand):
        stack, channel, _ = self.locate(line.sources[operand])
        router = self.machine.stack_router(stack, cu.router)
        self.fabric.send(now, (CU, cu.router), (MEMORY, router), self.machine.control,
                         self._load_at_memory, cu, line, operand, stack, channel, router)

    def _load_at_memory(self, now, cu, line, operand, stack, channel, router):
        self.access(now, stack, channel, line.size, self._load_read, cu, line, operand, router)

    def _load_read(self, now, cu, line, operand, router):
        self.fabric.send(now, (MEMORY, router), (CU, cu.router), line.size, cu.operand_came, line, operand)

    # A store of a copy or a reduction: CU, memory, CU

    def store_here(self, now, cu, line):
        stack, channel, _ = self.locate(line.destination[1])
        router = self.machine.stack_router(stack, cu.router)
        self.fabric.send(now, (CU, cu.router), (MEMORY, router), line.size,
                         self._store_at_memory, cu, line, stack, channel, router)

    def _store_at_memory(self, now, cu, line, stack, channel, router):
        self.access(now, stack, channel, line.size, self._store_written, cu, line, router)

    def _store_written(self, now, cu, line, router):
        self.fabric.send(now, (MEMORY, router), (CU, cu.router), self.machine.control, cu.written_here, line)

    # A store or a flag to another GPU, and its acknowledgement

    def store_afar(self, now, cu, line):
        line.issued = now
        peer = self.pod.gpus[line.destination[0]]
        stack, channel, port = peer.locate(line.destination[1])
        self.fabric.send(now, (CU, cu.router), (PORT, self.machine.port_router[port]), line.size,
                         self.leave, port, peer, line.size, peer.store_in, cu, line, stack, channel, port)

    def leave(self, now, port, peer, size, handler, *args):
        """At the own port: over the plane to the peer's port, whose `handler` gets (now, in, ...) when the message is
        there; in: when it has come in at the port."""
        p = self.machine.p
        server = self.ports[port]
        server.take(now, size)
        time = server.free_at + p['scaleup.link_latency'] + p['scaleup.switch_latency']
        rank = self.pod.message_rank(self.number, peer.number)
        self.events.at(time, (MESSAGE, rank), peer.message, port, size, handler, args)

    def message(self, now, port, size, handler, args):
        server = self.outputs[port]
        server.take(now, size)
        handler(now, server.free_at + self.machine.p['scaleup.link_latency'], *args)

    def store_in(self, now, time, cu, line, stack, channel, port):
        way = port, cu, line, stack, channel
        if not self.mmu:
            self.events.local(time, self.enter, *way)
        elif self.pod.same_node(cu.gpu, self):
            self.mmu.own_node(time, port, way)
        else:
            self.mmu.request(time, port, line, way)

    def enter(self, now, port, cu, line, stack, channel):
        """From the port into the mesh."""
        at_port = self.machine.port_router[port]
        router = self.machine.stack_router(stack, at_port)
        self.fabric.send(now, (PORT, at_port), (MEMORY, router), line.size,
                         self._afar_at_memory, port, cu, line, stack, channel, router)

    def _afar_at_memory(self, now, port, cu, line, stack, channel, router):
        self.access(now, stack, channel, line.size, self._afar_written, port, cu, line, router)

    def _afar_written(self, now, port, cu, line, router):
        self.last_landing = now
        if line.channel is not None:
            self.executor.flag_landed(now, line.channel)
            return
        self.pod.results.stored(now - line.issued, line.size)
        at_port = self.machine.port_router[port]
        self.fabric.send(now, (MEMORY, router), (PORT, at_port), self.machine.control,
                         self.leave, port, cu.gpu, self.machine.control, cu.gpu.acknowledgement_in, cu, line, port)

    def acknowledgement_in(self, now, time, cu, line, port):
        self.events.local(time, self._acknowledgement_at_port, cu, line, port)

    def _acknowledgement_at_port(self, now, cu, line, port):
        self.fabric.send(now, (PORT, self.machine.port_router[port]), (CU, cu.router), self.machine.control,
                         cu.acknowledged, line)

    def queues(self):
        found = self.fabric.queues()
        for (stack, channel), server in self.channels.items():
            found['hbm_channel', 'stack %d channel %d' % (stack, channel)] = server
        for port, server in enumerate(self.ports):
            found['port', 'port %d' % port] = server
        for port, server in enumerate(self.outputs):
            found['switch_output', 'plane %d' % port] = server
        return found


class Pod:
    def __init__(self, machine, plan, placement, results):
        p = machine.p
        self.machine = machine
        self.plan = plan
        self.placement = placement
        self.results = results
        self.events = Events()
        self.order = Relative(p['pod.gpus'], p['pod.gpus_per_node'])
        self.gpus = [Gpu(self, number) for number in range(p['pod.gpus'])]

    def message_rank(self, sender, receiver):
        return self.order.diff(sender, receiver)

    def same_node(self, a, b):
        node = self.machine.p['pod.gpus_per_node']
        return a.number // node == b.number // node

    def run(self):
        p = self.machine.p
        begin = 0
        ahead = p['translation.mode'] == 'full' and p['translation.pretranslate'] != 'off'
        if ahead:
            begin = p['translation.pretranslate_lead']
        for gpu in self.gpus:
            self.events.local(begin, gpu.executor.start)
            if ahead:
                Pretranslator(gpu).next(0)
        self.events.run()
        self.results.finish(self, begin)
