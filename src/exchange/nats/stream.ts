/**
 * Creates a stream, or updates an existing one to this version's configuration.
 *
 * Called at the start and whenever a stream is missing: after a server lost its store, the first node that notices creates
 * it.
 */

import type { JetStreamManager, StreamConfig } from "@nats-io/jetstream";

/** JetStream's code: a stream of that name exists, with another configuration. */
const MADE_OTHERWISE = 10058;

export async function keepStream(
  manager: JetStreamManager,
  config: Partial<StreamConfig> & { readonly name: string },
): Promise<void> {
  try {
    await manager.streams.add(config);
  } catch (error) {
    if ((error as { code?: unknown }).code !== MADE_OTHERWISE) throw error;
    await manager.streams.update(config.name, config);
  }
}

export function nanosOf(ms: number): number {
  return ms * 1_000_000;
}
