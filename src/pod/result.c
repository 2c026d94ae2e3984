#include "pod/result.h"
#include "gpu/translate/translation.h"
#include "pod/sim_private.h"

const char *nuna_status_name(enum nuna_sim_status status)
{
    return status == NUNA_SIM_COMPLETE ? "ok" : "incomplete";
}

const char *nuna_exactness(const struct nuna_result *result)
{
    return result->approximate ? "approx" : "exact";
}

static const struct nuna_gpu *gpu_of(const struct nuna_view *view, uint32_t gpu)
{
    return nuna_sim_gpu(view->sim, gpu);
}

struct nuna_view nuna_view_of(const struct nuna_sim *sim, const struct nuna_result *result)
{
    const struct nuna_pod *pod = &sim->pod;
    return (struct nuna_view){
        .result = result,
        .params = pod->spec.params,
        .plan = pod->spec.plan,
        .origin = sim->pod.spec.start,
        .noc = &pod->spec.noc,
        .topology = &pod->spec.topology,
        .map = &pod->spec.map,
        .layout = &pod->layout,
        .placement = &pod->placement,
        .domains = pod->spec.domains,
        .log = sim->log,
        .sim = sim,
    };
}

static struct nuna_op_times times_of(const struct nuna_op_trace *trace)
{
    const struct nuna_load_stamps *load = &trace->load;
    const struct nuna_store_stamps *store = &trace->store;
    nuna_time issued = trace->start, load_issued = issued - load->stored;
    return (struct nuna_op_times){
        .has_load = trace->has_load,
        .has_store = trace->has_store,
        .load_issued = load_issued,
        .load_at_memory = load_issued + load->at_memory,
        .load_read = load_issued + load->read,
        .load_back = load_issued + load->back,
        .issued = issued,
        .at_port = issued + store->at_port,
        .at_switch = issued + store->at_switch,
        .at_peer = issued + store->at_peer,
        .translated = issued + store->at_peer + trace->translation,
        .at_memory = issued + store->at_memory,
        .landed = issued + store->landed,
        .acked = trace->acked ? issued + trace->acked : 0,
    };
}

struct nuna_op_times nuna_view_op(const struct nuna_view *view, uint32_t op)
{
    return times_of(&view->sim->trace[op]);
}

nuna_time nuna_view_straggler(const struct nuna_view *view, uint32_t gpu,
                              struct nuna_op_times *ret_times)
{
    const struct nuna_straggler *straggler = &gpu_of(view, gpu)->probe->straggler;
    *ret_times = times_of(&straggler->trace);
    return straggler->landed;
}

struct nuna_gpu_servers nuna_view_servers(const struct nuna_view *view, uint32_t gpu)
{
    const struct nuna_gpu *lp = gpu_of(view, gpu);
    const struct nuna_noc_shape *noc = view->noc;
    return (struct nuna_gpu_servers){
        .mesh_link = noc->uniform ? NULL : lp->noc.link,
        .injection = noc->uniform ? NULL : lp->noc.inject,
        .ejection = noc->uniform ? NULL : lp->noc.eject,
        .channel = lp->hbm.channel,
        .port = lp->scaleup.egress,
        .switch_output = lp->scaleup.output,
        .channels = lp->hbm.channel_count,
        .ports = lp->spec->clos.ports,
        .mesh_rate = &noc->link_rate,
        .injection_rate = &noc->injection_rate,
        .ejection_rate = &noc->ejection_rate,
        .channel_rate = &lp->hbm.rate,
        .port_rate = &lp->spec->clos.port_rate,
    };
}

const struct nuna_translation_counts *nuna_view_translation(const struct nuna_view *view,
                                                            uint32_t gpu)
{
    return gpu_of(view, gpu)->translation_counts;
}

const struct nuna_mmu *nuna_view_mmu(const struct nuna_view *view, uint32_t gpu)
{
    const struct nuna_translation *translation = gpu_of(view, gpu)->translation;
    return translation && translation->mmu.shape ? &translation->mmu : NULL;
}

uint32_t nuna_view_rel(const struct nuna_view *view, uint32_t source, uint32_t dest)
{
    return nuna_spec_rel(&view->sim->pod.spec, source, dest);
}
