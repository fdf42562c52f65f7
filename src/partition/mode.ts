/** The handling of links to other processes' parts, and which settings contradict each other. */

import { unreachable } from "../base/assert.ts";
import type { PartitionKind } from "./partition.ts";

export type Coordination = "independent" | "dynamic" | "static";
export type Mode = "firewall" | "cross-over" | "exchange";

export const COORDINATIONS: readonly Coordination[] = ["independent", "dynamic", "static"];
export const MODES: readonly Mode[] = ["firewall", "cross-over", "exchange"];

/** A link to another part is dropped, held until the own part has no URLs left, or sent to its owner. */
export type Fate = "drop" | "hold" | "send";

export function fateOfForeign(mode: Mode): Fate {
  switch (mode) {
    case "firewall":
      return "drop";
    case "cross-over":
      return "hold";
    case "exchange":
      return "send";
    default:
      return unreachable(mode);
  }
}

/** The settings to check; undefined: not given. */
interface Arrangement {
  readonly coordination: Coordination;
  readonly mode: Mode | undefined;
  readonly partition: PartitionKind | undefined;
  readonly procs: number;
  readonly ruleCount?: number;
}

/** The contradiction between the settings, for the operator; undefined if there is none. */
export function whyNot(arrangement: Arrangement): string | undefined {
  // With one process the division does not matter, so a command with a variable number of processes works with 1 too.
  const alone = arrangement.procs === 1;
  return (alone ? undefined : whyNotCoordination(arrangement)) ?? whyNotRules(arrangement);
}

function whyNotCoordination({ coordination, mode, partition }: Arrangement): string | undefined {
  switch (coordination) {
    case "independent":
      if (mode !== undefined)
        return `independent processes own no part of the web, so no link belongs to another: leave mode ${mode} out, or choose static coordination`;
      if (partition !== undefined)
        return `independent processes do not divide the web: leave partition ${partition} out, or choose static coordination`;
      return undefined;
    case "dynamic":
      if (mode === "firewall")
        return "dynamic coordination hands out parts of the web as links to them are found, and mode firewall throws these links away: choose mode exchange, or static coordination";
      if (mode === "cross-over")
        return "with dynamic coordination an idle process gets another part, so it never crosses over: choose mode exchange, or static coordination";
      return undefined;
    case "static":
      return undefined;
    default:
      return unreachable(coordination);
  }
}

function whyNotRules({ partition, ruleCount }: Arrangement): string | undefined {
  if (ruleCount === undefined) return undefined;
  if (partition === "hierarchical" && ruleCount === 0)
    return "partition hierarchical needs rules: give some, such as uk=.uk, or choose site-hash";
  if (partition !== "hierarchical" && ruleCount > 0)
    return `partition rules have no effect with partition ${partition ?? "site-hash"}: choose hierarchical, or leave them out`;
  return undefined;
}
