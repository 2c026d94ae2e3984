/* One row per parameter: X(section, field, quantity, default, min, max, words, doc, source).
 * Defaults and bounds are written as a user would write them, and parsed by the same code.
 * The defaults are the multi-die GPU and pod of the NUNA study (arXiv 2608.00867, section 5.3). */
#ifndef NUNA_CORE_PARAM_TABLE_H
#define NUNA_CORE_PARAM_TABLE_H

#include "core/variant_table.h"

#define NUNA_PARAM_SECTIONS(S)                                                                     \
    S(pod, "the pod: how many GPUs")                                                               \
    S(noc, "the network on chip of one GPU")                                                       \
    S(gpu, "compute units")                                                                        \
    S(hbm, "memory stacks and pages")                                                              \
    S(scaleup, "I/O ports, links and switch planes")                                               \
    S(placement, "where threadblocks and pages go, which ports traffic may take")                  \
    S(collective, "the collective to run")                                                         \
    S(translation,                                                                                 \
      "reverse translation: the link MMU that turns other nodes' addresses into a GPU's own")      \
    S(fifo, "connections of two-sided plans (MSCCL)")                                              \
    S(proxy, "the host thread behind port channels (MSCCL++)")                                     \
    S(background, "a tiled matrix multiplication that runs beside the collective on every GPU")    \
    S(host, "the server around the GPUs and how it copies between host and GPU memory")

#define NUNA_PARAMS_pod(X)                                                                         \
    X(pod, gpus, COUNT, "64", "1", "4096", "", "GPUs (sockets) in the pod",                        \
      "NUNA section 5.3: pods of 2 to 64")                                                         \
    X(pod, gpus_per_node, COUNT, "1", "1", "4096", "",                                             \
      "GPUs under one operating system, a divisor of the GPUs; accesses within a node need no "    \
      "reverse translation",                                                                       \
      "model choice; reverse translation Table 1 has 4")

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
    X(hbm, stack_capacity, SIZE, "18GB", "1MB", "16TiB", "",                                       \
      "bytes of one stack; buffers, scratch and flags of a GPU must fit all its stacks",           \
      "288 GB a GPU over 16 stacks: announced parts of 2026")                                      \
    X(hbm, access_latency, TIME, "120ns", "1ps", "10us", "",                                       \
      "every access, beside the channel's occupancy", "NUNA section 5.1: 120 ns")                  \
    X(hbm, page_size, SIZE, "4KiB", "256B", "1GiB", "", "page, the grain of memory placement",     \
      "NUNA section 4.2: 4 kB pages")                                                              \
    X(hbm, page_order, ENUM, "neighbours", "", "", "neighbours|dies",                              \
      "how round-robin pages visit the stacks. neighbours: one after the other along an edge; "    \
      "dies: die after die, above, then below, then each die's next stack",                        \
      "model choice: the study says round-robin")

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
      "calibrated: N1, N3")                                                                        \
    X(scaleup, port_grain, COUNT, "1", "1", "1048576", "",                                         \
      "lines of a page that take one port before the next port's turn; a power of two",            \
      "NUNA section 4.1: lines hash over the ports")

#define NUNA_PARAMS_placement(X)                                                                   \
    X(placement, policy, ENUM, "UA", "", "", NUNA_WORDS(NUNA_POLICIES),                            \
      "threadblock and memory placement, with or without routing domains: docs/placement.md",      \
      "NUNA section 5.3")                                                                          \
    X(placement, nar_domains, COUNT, "0", "0", "256", "",                                          \
      "routing domains (NAR granularity), a divisor of the ports; 0 tries all and keeps the best", \
      "NUNA section 4.1.2: the compiler may try all granularities")                                \
    X(placement, cu_budget, COUNT, "700", "1", "1000000", "",                                      \
      "NAP: requests (a line's load and its store count one each) placed on a CU before the next", \
      "NUNA section 4.2.2: R_max of a CU, 700 outstanding requests")                               \
    X(placement, numa_near, ENUM, "first", "", "", "first|all",                                    \
      "NUMA: the pages whose stacks a threadblock is placed near to: the first one that it "       \
      "loads, or all of them, by the sum of hops",                                                 \
      "NUNA section 5.3: where its data are")

#define NUNA_PARAMS_collective(X)                                                                  \
    X(collective, start, TIME, "0ns", "0ps", "1s", "",                                             \
      "when it starts beside host transfers, which are told to start at 0 or later; alone, and "   \
      "with pre-translation, it starts at once",                                                   \
      "model choice")                                                                              \
    X(collective, size, SIZE, "1MB", "0B", "16TiB", "",                                            \
      "the larger of one GPU's input and output buffer", "nccl-tests' convention")                 \
    X(collective, channels, COUNT, "8", "1", "1024", "",                                           \
      "threadblocks per peer (all-pairs), or rings or trees, in plans that nunasim generates",     \
      "NUNA section 5.1: best-performing number of threadblocks")

#define NUNA_PARAMS_translation(X)                                                                 \
    X(translation, mode, ENUM, "off", "", "", "off|ideal|full",                                    \
      "off: none; ideal: counted, takes no time; full: TLBs, walk caches and walkers",             \
      "reverse translation section 4.1 (ideal)")                                                   \
    X(translation, l1_entries, COUNT, "32", "1", "1048576", "", "entries of a port's L1 TLB",      \
      "reverse translation Table 1")                                                               \
    X(translation, l1_ways, COUNT, "0", "0", "1048576", "",                                        \
      "its associativity, a divisor of the entries; 0: fully associative",                         \
      "reverse translation Table 1: fully associative")                                            \
    X(translation, l1_policy, ENUM, "LRU", "", "", NUNA_WORDS(NUNA_REPLACEMENTS),                  \
      "its replacement", "model choice, as the L2")                                                \
    X(translation, l1_latency, TIME, "50ns", "0ps", "1ms", "", "an L1 lookup",                     \
      "reverse translation Table 1")                                                               \
    X(translation, l1_mshrs, COUNT, "256", "1", "65536", "",                                       \
      "miss registers of a port; when all are taken, a miss blocks its port",                      \
      "reverse translation Table 1")                                                               \
    X(translation, l1_mshr_holds, ENUM, "request", "", "", "request|page",                         \
      "what one of them holds: a request that waits (those to a page share one L2 lookup), or a "  \
      "page with any number of requests",                                                          \
      "model choice: what waits is data, and takes room")                                          \
    X(translation, l2_entries, COUNT, "512", "1", "16777216", "",                                  \
      "entries of the L2 TLB that the ports of a GPU share", "reverse translation Table 1")        \
    X(translation, l2_ways, COUNT, "2", "0", "1048576", "",                                        \
      "its associativity, a divisor of the entries; 0: fully associative",                         \
      "reverse translation Table 1")                                                               \
    X(translation, l2_policy, ENUM, "LRU", "", "", NUNA_WORDS(NUNA_REPLACEMENTS),                  \
      "its replacement", "reverse translation Table 1")                                            \
    X(translation, l2_latency, TIME, "100ns", "0ps", "1ms", "", "an L2 lookup",                    \
      "reverse translation Table 1")                                                               \
    X(translation, l2_interval, TIME, "455ps", "1ps", "1us", "", "time between two L2 lookups",    \
      "model choice: one lookup per cycle at 2.2 GHz")                                             \
    X(translation, l2_mshrs, COUNT, "256", "1", "65536", "", "miss registers of the L2",           \
      "model choice, as a port's")                                                                 \
    X(translation, levels, COUNT, "5", "1", "5", "", "accesses of a whole walk",                   \
      "reverse translation Table 1: five levels")                                                  \
    X(translation, level_bits, COUNT, "9", "1", "16", "", "bits of the page number per level",     \
      "512 entries of 8 B fill a 4 KiB table")                                                     \
    X(translation, walk_cache_1, COUNT, "128", "1", "1048576", "",                                 \
      "entries of the page-walk cache of the last upper level: a hit leaves one access",           \
      "reverse translation Table 1")                                                               \
    X(translation, walk_cache_2, COUNT, "64", "1", "1048576", "",                                  \
      "of the level above: a hit leaves two", "reverse translation Table 1")                       \
    X(translation, walk_cache_3, COUNT, "32", "1", "1048576", "",                                  \
      "of the level above: a hit leaves three", "reverse translation Table 1")                     \
    X(translation, walk_cache_4, COUNT, "16", "1", "1048576", "",                                  \
      "of the first level: a hit leaves four", "reverse translation Table 1")                      \
    X(translation, walk_cache_ways, COUNT, "2", "0", "1048576", "",                                \
      "their associativity, a divisor of the entries; 0: fully associative",                       \
      "reverse translation Table 1")                                                               \
    X(translation, walk_cache_latency, TIME, "50ns", "0ps", "1ms", "",                             \
      "a lookup in all of them at once", "reverse translation Table 1")                            \
    X(translation, walkers, COUNT, "100", "1", "65536", "", "walks of a GPU at a time",            \
      "reverse translation Table 1: 100 parallel walkers")                                         \
    X(translation, walk_step, TIME, "0ps", "0ps", "1ms", "",                                       \
      "one access of a walk; 0: hbm.access_latency and the way from a port to a stack on an idle " \
      "fabric, on average",                                                                        \
      "reverse translation Table 1: 150 ns memory, 120 ns fabric")                                 \
    X(translation, pretranslate, ENUM, "off", "", "", "off|L2|L1+L2",                              \
      "before the collective, each GPU asks its peers to translate the pages that it will use: "   \
      "into their L2, or also into the L1 of every port that the page uses",                       \
      "reverse translation section 6: pre-translation in the preceding kernel")                    \
    X(translation, pretranslate_lead, TIME, "2us", "0ps", "1s", "",                                \
      "how long before the collective it begins", "model choice: a full walk and the way to it")   \
    X(translation, pretranslate_pages, COUNT, "100", "0", "100", "",                               \
      "per cent of the pages, in the order of their use", "model choice")                          \
    X(translation, prefetch, ENUM, "off", "", "", "off|L2|L1+L2",                                  \
      "threadblocks send a translation request ahead of their stores to a new page, and for the "  \
      "flag that follows them",                                                                    \
      "reverse translation section 6: software-guided prefetching")                                \
    X(translation, prefetch_distance, SIZE, "0B", "0B", "1GiB", "",                                \
      "how far ahead of the line being loaded; prefetch_lines and prefetch_pages add to it",       \
      "model choice: the load's own time")                                                         \
    X(translation, prefetch_lines, COUNT, "0", "0", "1000000", "",                                 \
      "the same in lines of noc.flit_size", "model choice")                                        \
    X(translation, prefetch_pages, COUNT, "0", "0", "1000000", "",                                 \
      "the same in pages of hbm.page_size", "model choice")                                        \
    X(translation, trace, COUNT, "0", "0", "10000000", "",                                         \
      "most rows of translation_trace.csv; 0 writes none", "-")                                    \
    X(translation, trace_gpu, COUNT, "0", "0", "4095", "", "GPU whose requests are traced", "-")
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

#define NUNA_PARAMS_host(X)                                                                              \
    X(host, sockets, COUNT, "2", "1", "16", "",                                                          \
      "CPU sockets; divides the GPUs, which are attached in order",                                      \
      "MMA section 5: dual-socket EPYC 9654")                                                            \
    X(host, dram_rate, RATE, "325GB/s", "1MB/s", "1000TB/s", "",                                         \
      "memory of one socket, reads and writes together",                                                 \
      "460.8 GB/s in theory (12 channels DDR5-4800); MMA Table 1: 600 to 700 GB/s for both sockets")     \
    X(host, dram_latency, TIME, "100ns", "0ps", "1ms", "",                                               \
      "an access to it, beside its occupancy", "typical of DDR5 behind a data fabric")                   \
    X(host, socket_link_rate, RATE, "256GB/s", "1MB/s", "1000TB/s", "",                                  \
      "between two sockets, one direction", "four xGMI3 links of 16 lanes at 32 Gb/s")                   \
    X(host, socket_link_latency, TIME, "130ns", "0ps", "1ms", "", "across it",                           \
      "difference of near and far load latency of a GPU, nvbandwidth: 1321 - 1191 ns")                   \
    X(host, far_read_rate, RATE, "65GB/s", "1MB/s", "1000TB/s", "",                                      \
      "DMA reads from another socket's memory, all GPUs of one socket together",                         \
      "calibrated: M1, 245 GB/s in all less 180 GB/s of the four near paths")                            \
    X(host, far_write_rate, RATE, "65GB/s", "1MB/s", "1000TB/s", "",                                     \
      "DMA writes to another socket's memory, all GPUs of one socket together",                          \
      "not reported; as host.far_read_rate")                                                             \
    X(host, far_gpu_rate, RATE, "22GB/s", "1MB/s", "1000TB/s", "",                                       \
      "the same, of one GPU: its root port has few requests in flight",                                  \
      "calibrated: M1 with saturation at three far paths, a third of host.far_read_rate")                \
    X(host, pcie_rate, RATE, "53.65GB/s", "1MB/s", "1000TB/s", "",                                       \
      "payload over one GPU's PCIe 5.0 x16 link, one direction",                                         \
      "calibrated: M1, 53 GB/s; 53.65 GB/s measured on another H20")                                     \
    X(host, pcie_latency, TIME, "500ns", "10ns", "1ms", "", "one way between host and GPU",              \
      "half of a host load's 1.2 us round trip less DRAM, nvbandwidth")                                  \
    X(host, read_window, SIZE, "256KiB", "1B", "1GiB", "",                                               \
      "bytes a copy over PCIe keeps in flight", "model choice: several round trips at full rate")        \
    X(host, peer_window, SIZE, "1MiB", "1B", "1GiB", "",                                                 \
      "bytes a copy between GPUs keeps in flight",                                                       \
      "model choice: several round trips at full rate")                                                  \
    X(host, piece_size, SIZE, "16KiB", "64B", "32KiB", "",                                               \
      "grain in which concurrent copies share a link", "model choice")                                   \
    X(host, memory_rate, RATE, "3700GB/s", "1MB/s", "1000TB/s", "",                                      \
      "memory of one GPU, for copies", "H20: 4.0 TB/s, 3.6 to 3.8 in practice")                          \
    X(host, copy_launch, TIME, "5.5us", "0ps", "1s", "",                                                 \
      "a native copy's call, before its engine is told",                                                 \
      "looped copies on MI300X, 5.5 us each; 5 to 7 us per cudaMemcpyAsync (arXiv 2602.21548)")          \
    X(host, copy_gap, TIME, "2.6us", "0ps", "1s", "", "a copy engine between two copies",                \
      "batched copies on MI300X, 2.6 us each")                                                           \
    X(host, engine, ENUM, "mma", "", "", "native|static|mma",                                            \
      "native: the target's own link; static: fixed shares of the paths; mma: paths pull chunks",        \
      "MMA section 3.4")                                                                                 \
    X(host, relays, COUNT, "7", "0", "4095", "",                                                         \
      "GPUs that may relay a transfer, those on the target's socket first",                              \
      "MMA section 5.1.1: seven peers")                                                                  \
    X(host, relay_scope, ENUM, "any", "", "", "any|same-socket",                                         \
      "same-socket: only GPUs on the target's socket relay", "MMA section 6")                            \
    X(host, direct, ENUM, "on", "", "", "on|off", "off: the target's own link is not used",              \
      "MMA figure 10: two relay paths")                                                                  \
    X(host, direct_priority, ENUM, "on", "", "", "on|off",                                               \
      "on: a link takes chunks for its own GPU first", "MMA section 3.4.2")                              \
    X(host, task_queue, ENUM, "shared", "", "", "shared|per-transfer",                                   \
      "per-transfer: every transfer is a process of its own, with queues and buffers",                   \
      "MMA section 5.1.2: each process has its queue")                                                   \
    X(host, buffer, ENUM, "target", "", "", "target|other|interleaved|each",                             \
      "where the host buffer lies: the target's socket, the next one, pages in turn, or a copy on each", \
      "MMA section 5.1.1: pinned buffers")                                                               \
    X(host, buffer_page, SIZE, "2MiB", "4KiB", "1GiB", "", "grain of an interleaved buffer",             \
      "huge pages")                                                                                      \
    X(host, chunk_size, SIZE, "5MB", "1kB", "1TiB", "",                                                  \
      "a transfer is cut into chunks of this size; the last one is the rest",                            \
      "MMA section 3.4.3: 5 MB")                                                                         \
    X(host, queue_depth, COUNT, "2", "1", "64", "", "chunks outstanding on one link",                    \
      "MMA section 5.3: two")                                                                            \
    X(host, pipelines, COUNT, "2", "1", "8", "",                                                         \
      "relay streams of a GPU and direction, each with a buffer of one chunk",                           \
      "MMA section 3.4.3: two")                                                                          \
    X(host, fallback_h2d, SIZE, "11.3MB", "0B", "1TiB", "",                                              \
      "mma: smaller transfers to a GPU are native", "MMA section 5.3")                                   \
    X(host, fallback_d2h, SIZE, "13MB", "0B", "1TiB", "",                                                \
      "mma: smaller transfers from a GPU are native", "MMA section 5.3")                                 \
    X(host, relay_rate, RATE, "45GB/s", "1MB/s", "1000TB/s", "",                                         \
      "a relay's copy between host and staging buffer",                                                  \
      "calibrated: M1, four near paths give 180 GB/s where four links have 215")                         \
    X(host, relay_dependency, TIME, "3us", "0ps", "1s", "",                                              \
      "between the two copies of a relayed chunk: an event on its stream",                               \
      "typical of CUDA events across engines")                                                           \
    X(host, dispatch_direct, TIME, "7us", "0ps", "1s", "",                                               \
      "a transfer thread launches a direct chunk: one copy, one event",                                  \
      "copy call 5.5 us, event 1.5 us")                                                                  \
    X(host, dispatch_relay, TIME, "15us", "0ps", "1s", "",                                               \
      "a transfer thread launches a relayed chunk: two copies, two events",                              \
      "copy call 5.5 us, event 1.5 us, twice, and 1 us")                                                 \
    X(host, completion_time, TIME, "3us", "0ps", "1s", "",                                               \
      "a synchronisation thread sees a chunk's end and retires it", "spinning event wait")               \
    X(host, callback_time, TIME, "20us", "0ps", "1s", "",                                                \
      "asynchronous copies: the stream reaches the dummy task, its host callback runs",                  \
      "calibrated: M1, crossover")                                                                       \
    X(host, setup_time, TIME, "40us", "0ps", "1s", "",                                                   \
      "a transfer is cut into chunks and the threads of all links wake",                                 \
      "calibrated: M1, crossover")                                                                       \
    X(host, poll_time, TIME, "1.5us", "0ps", "1s", "",                                                   \
      "asynchronous copies: the spin kernel sees the completion flag", "MMA section 4: 1 to 2 us")       \
    X(host, wake_time, TIME, "10us", "0ps", "1s", "",                                                    \
      "synchronous copies: the calling thread wakes", "typical of condition variables")                  \
    X(host, copies, ENUM, "async", "", "", "async|sync",                                                 \
      "async: copies in stream order through a dummy task; sync: the caller waits",                      \
      "MMA section 3.2")                                                                                 \
    X(host, backoff_percent, COUNT, "150", "100", "100000", "",                                          \
      "a relay is contended when its chunk takes longer than this share of the time it takes alone",     \
      "model choice; MMA section 3.4.2 names no threshold")                                              \
    X(host, backoff_depth, COUNT, "1", "1", "64", "",                                                    \
      "chunks outstanding on a contended link, below which it pulls again", "MMA section 3.4.2")         \
    X(host, interval, TIME, "10us", "1ns", "1s", "",                                                     \
      "grain of link utilisation over time; doubled as often as a run needs", "model choice")

#endif
