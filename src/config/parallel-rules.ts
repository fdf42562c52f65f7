/** What settings about several processes must agree on, each with what to write. */

import { whyNot } from "../partition/mode.ts";
import type { PartitionKind } from "../partition/partition.ts";
import type { Settings } from "./schema.ts";

/** Whether processes own contents and not addresses. */
export function ownsContents({ partition }: Settings): boolean {
  return partition === "topic" || partition === "content-hash";
}

function addressKind({ partition }: Settings): PartitionKind | undefined {
  return partition === "topic" || partition === "content-hash" ? undefined : partition;
}

export function parallelMistakes(settings: Settings): string[] {
  const { coordination, mode, procs, partitionRules, bucketCount } = settings;
  const found: string[] = [];
  const isByContent = ownsContents(settings);
  const partition = addressKind(settings);
  if (isByContent && (coordination !== "static" || (mode ?? "exchange") !== "exchange"))
    found.push(
      `partition ${settings.partition} sends pages to their owners: leave --coordination and --mode out`,
    );
  const reason = whyNot({ coordination, mode, partition, procs, ruleCount: partitionRules.length });
  if (reason !== undefined) found.push(reason);
  const { natsServers } = settings;
  const isCluster = natsServers.length > 0;
  if (isCluster && procs > 1)
    found.push(
      "--procs starts processes under a supervisor, and --nats joins a cluster: start `weir node` once for every further process instead",
    );
  if (isCluster && coordination === "independent")
    found.push("independent processes need no cluster: leave --nats out, or choose static");
  if (procs === 1 && !isCluster) return found;
  if (bucketCount < procs)
    found.push(
      `${bucketCount} partitions are fewer than ${procs} processes, so some would have none; give --partitions ${procs} or more`,
    );
  if (mode === "cross-over" && partition === "url-hash")
    found.push(
      "cross-over follows links to other sites, and url-hash divides sites themselves: choose site-hash",
    );
  if (settings.sampleShare !== undefined && mode !== "firewall")
    found.push(
      "--sample estimates what firewalls miss, and nothing is missed otherwise: choose --mode firewall, or leave it out",
    );
  if (settings.sampleShare !== undefined && isCluster)
    found.push(
      "a cluster does not put its nodes' samples together: leave --sample out, or use --procs",
    );
  if (settings.watch)
    found.push(
      "rounds (--watch) are for one process so far: leave --procs and --nats out, or --watch",
    );
  return found;
}
