import assert from "node:assert/strict";
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { busSuite } from "../bus.suite.ts";
import type { Bus, Inbox, Membership, ControlMessage, Parcel, Receipt } from "../bus.ts";
import type { Order, Report } from "./bus-process.child.ts";
import { ProcessBus, ProcessHub } from "./bus-process.ts";
import { childPort } from "./port.ts";
import type { Port } from "./port.ts";

const CHILD = join(import.meta.dirname, "bus-process.child.ts");
const NO_INBOX: Inbox = { onParcel() {}, onReceipt() {}, onMessage() {} };

busSuite("process bus", () => {
  const hub = new ProcessHub();
  return { bus: joining(hub, async (node, inbox) => memoryChild(hub, node, inbox)), settle };
});

busSuite("process bus with the supervisor on it", () => {
  const hub = new ProcessHub();
  const enter = async (node: string, inbox: Inbox): Promise<Membership> =>
    node === "a" ? hub.join(node, inbox) : memoryChild(hub, node, inbox);
  return { bus: joining(hub, enter), settle };
});

busSuite("process bus with forked processes", () => {
  const hub = new ProcessHub();
  const children: ForkedNode[] = [];
  const enter = async (node: string, inbox: Inbox): Promise<Membership> => {
    if (node === "a") return hub.join(node, inbox);
    const child = new ForkedNode(hub, node, inbox);
    children.push(child);
    await child.answer();
    return child;
  };
  return {
    bus: {
      join: enter,
      async close() {
        await hub.close();
        await Promise.all(children.map((child) => child.kill()));
      },
    },
    async settle() {
      // What is said on a channel before the question is heard before the answer.
      for (let round = 0; round < 3; round++) {
        await turn();
        await Promise.all(children.map((child) => child.answer()));
      }
    },
  };
});

test("a node that reads nothing costs its lane and no more, and gets what is in it later", async () => {
  const hub = new ProcessHub({ itemsMax: 1_000, bytesMax: 1_000_000 });
  const sender = await hub.join("a", NO_INBOX);
  const other = new ProcessHub({ itemsMax: 3, bytesMax: 1_000_000 });
  const [near, far] = portPair();
  far.isFull = true;
  hub.attach("b", far);
  const heard: string[] = [];
  await new ProcessBus(near).join("b", { ...NO_INBOX, onParcel: ({ id }) => heard.push(id) });
  const taken: string[] = [];
  for (let index = 0; index < 100; index++) {
    const id = `p${index}`;
    if (sender.send({ id, to: "b", body: new Uint8Array(99_900) })) taken.push(id);
    await turn();
  }
  assert.equal(taken.length, 10, "a million bytes with their envelopes");
  for (let index = 0; index < 10_000; index++) sender.tell("b", { index });
  assert.deepEqual(heard, []);
  far.makeRoom();
  await settle();
  assert.deepEqual(heard, taken);
  assert.equal(sender.send({ id: "later", to: "b", body: new Uint8Array(1) }), true);
  // By count as well.
  const few = await other.join("a", NO_INBOX);
  const sent = Array.from({ length: 5 }, () =>
    few.send({ id: "p", to: "a", body: new Uint8Array(0) }),
  );
  assert.deepEqual(sent, [true, true, true, false, false]);
  await settle();
  assert.equal(few.send({ id: "p", to: "a", body: new Uint8Array(0) }), true);
});

test("a stopped process does not make its supervisor grow, and hears what was taken when it goes on", async (t) => {
  const hub = new ProcessHub();
  const sender = await hub.join("a", NO_INBOX);
  const heard: Parcel[] = [];
  const child = forked(t, hub, { ...NO_INBOX, onParcel: (parcel) => heard.push(parcel) });
  await child.answer();
  child.process.kill("SIGSTOP");
  const body = new Uint8Array(100_000);
  let taken = 0;
  for (let index = 0; index < 500; index++) {
    if (sender.send({ id: `p${index}`, to: "b", body })) taken++;
    await turn();
  }
  // The lane, and what fits into the channel itself.
  const bytes = taken * body.length;
  assert.ok(bytes >= 7e6 && bytes < 12e6, `${bytes} bytes were taken`);
  child.process.kill("SIGCONT");
  while (heard.length < taken) await child.answer();
  assert.ok(heard.every((parcel) => parcel.body.length === body.length));
});

test("items in transit to a dead process are lost, and its name may return", async (t) => {
  const hub = new ProcessHub();
  const receipts: Receipt[] = [];
  const sender = await hub.join("a", {
    ...NO_INBOX,
    onReceipt: (receipt) => receipts.push(receipt),
  });
  const first = forked(t, hub, NO_INBOX);
  await first.answer();
  first.process.kill("SIGSTOP");
  for (let index = 0; index < 50; index++)
    sender.send({ id: `p${index}`, to: "b", body: new Uint8Array(100_000) });
  await turn();
  await first.kill();
  sender.send({ id: "lost", to: "b", body: new Uint8Array(1) });
  const heard: string[] = [];
  const second = forked(t, hub, {
    ...NO_INBOX,
    onParcel: (parcel) => {
      heard.push(parcel.id);
      second.acknowledge(parcel);
    },
  });
  await second.answer();
  sender.send({ id: "new", to: "b", body: new Uint8Array(1) });
  while (receipts.length === 0) await second.answer();
  assert.deepEqual(heard, ["new"]);
});

test("no process sends in another's name, and a replaced one sends nothing more", async () => {
  const hub = new ProcessHub();
  const heard: string[] = [];
  await hub.join("a", {
    ...NO_INBOX,
    onMessage: (from, control) => heard.push(`${from} ${control["n"]}`),
  });
  const [near, far] = portPair();
  hub.attach("b", far);
  const liar = await new ProcessBus(near).join("c", NO_INBOX);
  liar.tell("a", { n: 1 });
  const old = await memoryChild(hub, "d", NO_INBOX);
  old.tell("a", { n: 2 });
  await settle();
  const young = await memoryChild(hub, "d", NO_INBOX);
  old.tell("a", { n: 3 });
  young.tell("a", { n: 4 });
  await settle();
  assert.deepEqual(heard, ["d 2", "d 4"]);
});

test("what else is said on the channel is not taken for mail", async () => {
  const hub = new ProcessHub();
  const [near, far] = portPair();
  hub.attach("b", far);
  await new ProcessBus(near).join("b", NO_INBOX);
  for (const message of [undefined, null, 7, "mail", [], {}, { "weir mail": 7 }]) {
    near.send(message);
    far.send(message);
  }
  await settle();
});

test("what is said in one turn leaves in one message", async () => {
  const hub = new ProcessHub();
  const [near, far] = portPair();
  hub.attach("b", far);
  const heard: ControlMessage[] = [];
  await new ProcessBus(near).join("b", {
    ...NO_INBOX,
    onMessage: (_, control) => heard.push(control),
  });
  const sender = await hub.join("a", NO_INBOX);
  for (let n = 0; n < 100; n++) sender.tell("b", { n });
  await settle();
  assert.deepEqual(
    heard,
    Array.from({ length: 100 }, (_, n) => ({ n })),
  );
  assert.equal(far.sent, 1);
});

test("two nodes of the supervisor that answer each other for ever leave room for others", async () => {
  const hub = new ProcessHub();
  const members: Membership[] = [];
  for (const [index, name] of ["a", "b"].entries()) {
    const onMessage = (from: string): void => members[index]?.tell(from, {});
    members.push(await hub.join(name, { ...NO_INBOX, onMessage }));
  }
  members[0]?.tell("b", {});
  members[0]?.tell("a", {});
  await settle();
  await hub.close();
});

test("a process that has closed its bus ends by itself", async (t) => {
  const hub = new ProcessHub();
  const child = forked(t, hub, NO_INBOX);
  await child.answer();
  child.order({ order: "close" });
  const [code] = await once(child.process, "exit");
  assert.equal(code, 0);
});

/** A bus on which each node joins in its own way. */
function joining(hub: ProcessHub, enter: Bus["join"]): Bus {
  return { join: enter, close: () => hub.close() };
}

async function settle(): Promise<void> {
  // To the hub, to its addressee, and the same way back, each in a turn or two.
  for (let count = 0; count < 12; count++) await turn();
}

function memoryChild(hub: ProcessHub, node: string, inbox: Inbox): Promise<Membership> {
  const [near, far] = portPair();
  hub.attach(node, far);
  return new ProcessBus(near).join(node, inbox);
}

interface MemoryPort extends Port {
  isFull: boolean;
  makeRoom(): void;
  readonly sent: number;
}

/** Two ends that copy what goes through, as a channel between processes does. */
function portPair(): [MemoryPort, MemoryPort] {
  const near = memoryPort((message) => far.hear(message));
  const far = memoryPort((message) => near.hear(message));
  return [near, far];
}

function memoryPort(carry: (message: unknown) => void) {
  let listener: ((message: unknown) => void) | undefined;
  let tellRoom: (() => void) | undefined;
  return {
    isFull: false,
    sent: 0,
    send(message: unknown): boolean {
      if (this.isFull) return false;
      this.sent++;
      const copy = structuredClone(message);
      setImmediate(() => carry(copy));
      return true;
    },
    makeRoom(): void {
      this.isFull = false;
      tellRoom?.();
    },
    hear: (message: unknown): void => listener?.(message),
    onRoom(told: () => void): void {
      tellRoom = told;
    },
    onMessage(heard: (message: unknown) => void): void {
      listener = heard;
    },
    onClose(): void {},
    release(): void {
      listener = undefined;
    },
  };
}

function forked(t: TestContext, hub: ProcessHub, inbox: Inbox): ForkedNode {
  const child = new ForkedNode(hub, "b", inbox);
  t.after(() => child.kill());
  return child;
}

/** A node in a process of its own, led from here over the same channel. */
class ForkedNode implements Membership {
  readonly process: ChildProcess;
  readonly #inbox: Inbox;
  readonly #exit: Promise<unknown>;
  /** Whom it owes an answer. The first is the word that it has begun. */
  readonly #asking: (() => void)[] = [];
  #isBegun = false;

  constructor(hub: ProcessHub, node: string, inbox: Inbox) {
    this.#inbox = inbox;
    this.process = fork(CHILD, [node], { serialization: "advanced" });
    this.#exit = once(this.process, "exit");
    this.process.on("message", (message) => this.#hear(message as Report));
    hub.attach(node, childPort(this.process));
  }

  send(parcel: Omit<Parcel, "from">): boolean {
    this.order({ order: "send", parcel });
    return true;
  }
  acknowledge(parcel: Parcel): void {
    this.order({ order: "acknowledge", parcel });
  }
  tell(to: string, control: ControlMessage): void {
    this.order({ order: "tell", to, control });
  }
  async leave(): Promise<void> {
    this.order({ order: "leave" });
    await this.answer();
  }

  order(order: Order): void {
    this.process.send(order, () => {});
  }

  async answer(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#asking.push(resolve);
    if (this.#isBegun) this.order({ order: "answer" });
    this.#isBegun = true;
    await Promise.race([promise, this.#exit]);
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.#exit;
  }

  #hear({ report, value }: Report): void {
    if (report === "parcel") this.#inbox.onParcel(value as Parcel);
    else if (report === "receipt") this.#inbox.onReceipt(value as Receipt);
    else if (report === "control") this.#inbox.onMessage(...(value as [string, ControlMessage]));
    else if (report === "answer") this.#asking.shift()?.();
  }
}
