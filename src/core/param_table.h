/* One row per parameter: X(section, field, quantity, default, min, max, words, doc, source).
 * Defaults and bounds are written as a user would write them, and parsed by the same code.
 * The defaults are the multi-die GPU and pod of the NUNA study (arXiv 2608.00867, section 5.3). */
#ifndef NUNA_CORE_PARAM_TABLE_H
#define NUNA_CORE_PARAM_TABLE_H

#define NUNA_PARAM_SECTIONS(S)                                                                     \
    S(pod, "the pod: how many GPUs")                                                               \
    S(noc, "the network on chip of one GPU")                                                       \
    S(gpu, "compute units")                                                                        \
    S(hbm, "memory stacks and pages")                                                              \
    S(scaleup, "I/O ports, links and switch planes")                                               \
    S(placement, "where threadblocks and pages go, which ports traffic may take")                  \
    S(collective, "the collective to run")                                                         \
    S(fifo, "connections of two-sided plans (MSCCL)")                                              \
    S(proxy, "the host thread behind port channels (MSCCL++)")                                     \
    S(background, "a tiled matrix multiplication that runs beside the collective on every GPU")

#define NUNA_PARAMS_pod(X)                                                                         \
    X(pod, gpus, COUNT, "64", "1", "4096", "", "GPUs (sockets) in the pod",                        \
      "NUNA section 5.3: pods of 2 to 64")

#define NUNA_PARAMS_noc(X)                                                                         \
    X(noc, fabric, ENUM, "mesh", "", "", "mesh|uniform",                                           \
      "mesh: routers and links, X-then-Y; uniform: one constant latency between any two points",   \
      "NUNA figure 8 (mesh); reverse translation Table 1 (uniform)")                               \
    X(noc, flow_control, ENUM, "ideal", "", "", "ideal",                                           \
      "ideal: unbounded first-come-first-served queues at every link", "model choice")             \
    X(noc, columns, COUNT, "24", "1", "128", "", "mesh columns over all dies",                     \
      "NUNA figure 8: 24x6")                                                                       \
    X(noc, rows, COUNT, "6", "1", "128", "", "mesh rows", "NUNA figure 8: 24x6")                   \
    X(noc, dies, COUNT, "4", "1", "128", "", "compute dies, side by side; divides the columns",    \
      "NUNA figure 3: four reticle-limit dies")                                                    \
    X(noc, flit_size, SIZE, "256B", "16B", "4096B", "", "largest data packet: one cache line",     \
      "NUNA section 5.1: 256 B flits")                                                             \
    X(noc, control_size, SIZE, "16B", "1B", "4096B", "",                                           \
      "size of a request, an acknowledgement or a flag on every link", "model choice")             \
    X(noc, hop_latency, TIME, "10.4ns", "1ps", "1us", "", "router and link to the next router",    \
      "calibrated: N1, N3")                                                                        \
    X(noc, die_crossing_latency, TIME, "0ns", "0ps", "1us", "",                                    \
      "added to a hop that crosses from one die to the next", "calibrated: N1, N3")                \
    X(noc, link_rate, RATE, "512GB/s", "1MB/s", "1000TB/s", "", "one mesh link, one direction",    \
      "calibrated: N1")                                                                            \
    X(noc, injection_latency, TIME, "33ns", "1ps", "1us", "",                                      \
      "from a compute unit, memory stack or I/O port into its router", "calibrated: N1, N3")       \
    X(noc, injection_rate, RATE, "512GB/s", "1MB/s", "1000TB/s", "",                               \
      "one injection link of a router, per kind of attachment", "calibrated: N1")                  \
    X(noc, ejection_latency, TIME, "33ns", "1ps", "1us", "",                                       \
      "from a router to the attached compute units, memory stack or I/O port",                     \
      "calibrated: N1, N3")                                                                        \
    X(noc, ejection_rate, RATE, "512GB/s", "1MB/s", "1000TB/s", "",                                \
      "one ejection link of a router, per kind of attachment", "calibrated: N1")                   \
    X(noc, uniform_latency, TIME, "120ns", "1ps", "1ms", "",                                       \
      "uniform fabric: latency between any two points",                                            \
      "reverse translation Table 1: 120 ns local fabric")

#define NUNA_PARAMS_gpu(X)                                                                         \
    X(gpu, cus_per_router, COUNT, "7", "1", "64", "", "compute units attached to each router",     \
      "NUNA section 6.5: 1,008 threadblocks fill all CUs")                                         \
    X(gpu, max_outstanding, COUNT, "700", "1", "1000000", "",                                      \
      "requests one CU may have in flight; a line holds one from its load to its last "            \
      "acknowledgement",                                                                           \
      "NUNA section 4.2.2: 700 requests per CU")                                                   \
    X(gpu, issue_interval, TIME, "500ps", "1ps", "1us", "",                                        \
      "time between two memory instructions (lines) of one CU", "calibrated: N1")                  \
    X(gpu, reduce_rate, RATE, "512GB/s", "1MB/s", "1000TB/s", "",                                  \
      "operand bytes one CU reduces per second; it runs nothing else meanwhile",                   \
      "128 two-byte additions a clock at 2 GHz")

#define NUNA_PARAMS_hbm(X)                                                                         \
    X(hbm, stacks, COUNT, "16", "1", "256", "",                                                    \
      "memory stacks, half above and half below the mesh (all above when odd or 1)",               \
      "NUNA figure 3: 16 stacks")                                                                  \
    X(hbm, channels_per_stack, COUNT, "16", "1", "256", "", "channels of a stack",                 \
      "NUNA figure 8: 16 channels")                                                                \
    X(hbm, channel_rate, RATE, "100GB/s", "1MB/s", "1000TB/s", "", "one channel, read or write",   \
      "1.6 TB/s a stack: between HBM3E (1.2) and HBM4 (2.0)")                                      \
    X(hbm, access_latency, TIME, "120ns", "1ps", "10us", "",                                       \
      "every access, beside the channel's occupancy", "NUNA section 5.1: 120 ns")                  \
    X(hbm, page_size, SIZE, "4KiB", "256B", "1GiB", "", "page, the grain of memory placement",     \
      "NUNA section 4.2: 4 kB pages")

#define NUNA_PARAMS_scaleup(X)                                                                     \
    X(scaleup, ports, COUNT, "12", "1", "256", "",                                                 \
      "I/O ports of a GPU, half on the left and half on the right edge; one switch plane each",    \
      "NUNA figure 8: 12 ports")                                                                   \
    X(scaleup, port_rate, RATE, "150GB/s", "1MB/s", "1000TB/s", "",                                \
      "one port and one switch output, one direction",                                             \
      "1.8 TB/s a GPU and direction over 12 ports: announced parts of 2026")                       \
    X(scaleup, link_latency, TIME, "135ns", "10ns", "1ms", "",                                     \
      "port to switch, and switch to port", "calibrated: N1, N3")                                  \
    X(scaleup, switch_latency, TIME, "95ns", "0ps", "1ms", "", "through the switch",               \
      "calibrated: N1, N3")

#define NUNA_PARAMS_placement(X)                                                                   \
    X(placement, policy, ENUM, "UA", "", "", "UA|UA+NAR|NUMA|NUMA+NAR|NAP|NAP+NAR|NAP*|NAP*+NAR",  \
      "threadblock and memory placement, with or without routing domains: docs/placement.md",      \
      "NUNA section 5.3")                                                                          \
    X(placement, nar_domains, COUNT, "0", "0", "256", "",                                          \
      "routing domains (NAR granularity), a divisor of the ports; 0 tries all and keeps the best", \
      "NUNA section 4.1.2: the compiler may try all granularities")                                \
    X(placement, cu_budget, COUNT, "700", "1", "1000000", "",                                      \
      "NAP: requests (a line's load and its store count one each) placed on a CU before the next", \
      "NUNA section 4.2.2: R_max of a CU, 700 outstanding requests")

#define NUNA_PARAMS_collective(X)                                                                  \
    X(collective, size, SIZE, "1MB", "0B", "16TiB", "",                                            \
      "the larger of one GPU's input and output buffer", "nccl-tests' convention")                 \
    X(collective, channels, COUNT, "8", "1", "1024", "",                                           \
      "threadblocks per peer (all-pairs) or rings in plans that nunasim generates",                \
      "NUNA section 5.1: best-performing number of threadblocks")

#define NUNA_PARAMS_fifo(X)                                                                        \
    X(fifo, slots, COUNT, "8", "1", "1024", "", "slots of a connection", "NCCL: NCCL_STEPS")       \
    X(fifo, simple_slots, COUNT, "4", "1", "1024", "",                                             \
      "slots that one operation of the Simple protocol takes; LL and LL128 take one",              \
      "NCCL: two slices of two steps")                                                             \
    X(fifo, simple_window, SIZE, "2MiB", "16B", "1GiB", "",                                        \
      "Simple: data of one operation: the buffer's size by its slots times simple_slots",          \
      "NCCL_BUFFSIZE of 4 MiB")                                                                    \
    X(fifo, ll_window, SIZE, "32KiB", "16B", "1GiB", "", "LL: data of one operation",              \
      "NCCL_LL_BUFFSIZE of 512 KiB; 16KiB on AMD")                                                 \
    X(fifo, ll128_window, SIZE, "576000B", "16B", "1GiB", "", "LL128: data of one operation",      \
      "NCCL_LL128_BUFFSIZE; 50176B on AMD")                                                        \
    X(fifo, ll128_data, COUNT, "120", "8", "128", "",                                              \
      "LL128: bytes of data in 128 bytes on the wire",                                             \
      "NCCL: a line of 128 bytes ends in 8 of flags; 112 on AMD")

#define NUNA_PARAMS_proxy(X)                                                                       \
    X(proxy, request_latency, TIME, "1us", "0ps", "1ms", "",                                       \
      "from a request in the queue to the start of its work, one request at a time",               \
      "model choice: a host thread that polls memory")                                             \
    X(proxy, queue, COUNT, "512", "1", "65536", "",                                                \
      "requests that fit the queue; a block that finds it full waits", "MSCCL++: default FIFO")

#define NUNA_PARAMS_background(X)                                                                  \
    X(background, gemm_size, COUNT, "0", "0", "100000", "",                                        \
      "rows and columns of the square matrices; 0 runs none", "NUNA section 6.6: a size sweep")    \
    X(background, gemm_tiles, COUNT, "100", "1", "10000", "",                                      \
      "output tiles, one threadblock each; a square number", "NUNA section 6.6: 100 tiles")        \
    X(background, element_size, SIZE, "2B", "1B", "16B", "", "one matrix element",                 \
      "model choice: 16-bit floating point")                                                       \
    X(background, compute_rate, RATE, "512GB/s", "1MB/s", "1000TB/s", "",                          \
      "operand bytes one CU works through per second: a tile's compute delay",                     \
      "NUNA section 6.6: static delay by data size; rate as gpu.reduce_rate")

#endif
