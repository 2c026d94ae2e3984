/* Out through the I/O ports to other GPUs, and in again: requests (stores, flags, fetches) and
 * answers to them (acknowledgements, fetched data), each its own way. */
#ifndef NUNA_GPU_PROCESS_GATE_H
#define NUNA_GPU_PROCESS_GATE_H

#include "gpu/gpu.h"

/* A packet has reached its port: out to the switch plane, as a message. */
void nuna_gate_leave(struct nuna_gpu *gpu, uint32_t handle);

/* The kernel's operations for messages of GPUs: makes a flight of one. */
void nuna_gate_expect(const struct nuna_gpu *gpu, const struct nuna_message *message);
uint32_t nuna_gate_deliver(struct nuna_gpu *gpu, const struct nuna_message *message);

/* A message's packet is at the plane's output queue towards this GPU. */
void nuna_gate_at_switch(struct nuna_gpu *gpu, uint32_t handle);
/* It is in at the port. */
void nuna_gate_enter(struct nuna_gpu *gpu, uint32_t handle);

#endif
