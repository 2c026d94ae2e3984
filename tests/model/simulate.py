"""One run: parameters and a plan in, results out."""

from machine import Machine
from placement import Placement
from plans import Plan
from pod import Pod
from results import Results


def simulate(parameters, collective, ring=False, own_apart=False):
    machine = Machine(parameters)
    plan = Plan(collective, parameters['pod.gpus'], parameters['collective.channels'], parameters['collective.size'],
                parameters['pod.gpus_per_node'], ring, own_apart)
    placement = Placement(machine, plan, parameters['placement.policy'], parameters['placement.nar_domains'])
    pod = Pod(machine, plan, placement, Results())
    pod.run()
    return pod
