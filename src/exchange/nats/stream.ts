/**
 * Makes a stream, or brings one that is there to what this version wants of it.
 *
 * Called at the start and whenever a stream was found missing: a server whose store was lost gets
 * its streams anew from whoever notices first.
 */

import type { JetStreamManager, StreamConfig } from "@nats-io/jetstream";

/** JetStream's own: there is one of that name, made otherwise. */
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
