/**
 * A forked process on the bus, controlled by its parent: sends what the parent requests, and reports what arrives. Run by
 * `bus-process.test.ts` with the name of its node.
 */

import type { ControlMessage, Parcel } from "../bus.ts";
import { ProcessBus } from "./bus-process.ts";
import { parentPort } from "./port.ts";

/** Requests of the parent, on the same channel as the bus. */
export type Order =
  | { readonly order: "send"; readonly parcel: Omit<Parcel, "from"> }
  | { readonly order: "acknowledge"; readonly parcel: Parcel }
  | { readonly order: "tell"; readonly to: string; readonly control: ControlMessage }
  | { readonly order: "answer" | "leave" | "close" };

/** Reports to the parent. */
export interface Report {
  readonly report: "parcel" | "receipt" | "control" | "answer";
  readonly value: unknown;
}

const [, , node = ""] = process.argv;
const bus = new ProcessBus(parentPort());
const say = (report: Report["report"], value: unknown): void => {
  process.send?.({ report, value } satisfies Report);
};
const member = await bus.join(node, {
  onParcel: (parcel) => say("parcel", parcel),
  onReceipt: (receipt) => say("receipt", receipt),
  onMessage: (from, control) => say("control", [from, control]),
});
process.on("message", follow);
say("answer", "here");

function follow(message: unknown): void {
  const order = message as Order;
  if (order.order === "send") member.send(order.parcel);
  else if (order.order === "acknowledge") member.acknowledge(order.parcel);
  else if (order.order === "tell") member.tell(order.to, order.control);
  else if (order.order === "leave") void member.leave();
  else if (order.order === "answer") say("answer", undefined);
  else if (order.order === "close") {
    // Without listeners the process ends.
    process.off("message", follow);
    void bus.close();
  }
}
