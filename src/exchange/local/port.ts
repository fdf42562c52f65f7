/**
 * One end of a channel between two processes, as a socket, and Node's own channel as one.
 *
 * Node's channel to a forked process takes messages without end and keeps in memory what the other
 * side does not read. A port refuses instead: it takes no more until what it has taken is with the
 * system, so that it holds one message and what Node calls a full queue (128 KiB) at the most.
 */

import type { ChildProcess } from "node:child_process";
import { assert } from "../../base/assert.ts";

export interface Port {
  /** False: it was not taken, and `onRoom` will say when to try again. Gone is as good as taken. */
  send(message: unknown): boolean;
  onRoom(listener: () => void): void;
  onMessage(listener: (message: unknown) => void): void;
  onClose(listener: () => void): void;
  /** Hears nothing more, and keeps no process alive. */
  release(): void;
}

/** To a process made with `fork` and `serialization: "advanced"`. */
export function childPort(child: ChildProcess): Port {
  return channelPort(child);
}

/** To the process that forked this one. */
export function parentPort(): Port {
  assert(process.send !== undefined, "a forked process has a channel to its parent");
  return channelPort(process as Channel);
}

/** What a child has of its parent and a parent of its child. */
interface Channel {
  readonly connected: boolean;
  send(message: object, sent: (error: Error | null) => void): boolean;
  on(event: "message", listener: (message: unknown) => void): unknown;
  on(event: "disconnect", listener: () => void): unknown;
  off(event: "message", listener: (message: unknown) => void): unknown;
}

function channelPort(channel: Channel): Port {
  let unsent = 0;
  let isFull = false;
  let tellRoom: (() => void) | undefined;
  const heard: ((message: unknown) => void)[] = [];
  // Called with an error once the other side is gone; then nobody minds.
  const sent = (): void => {
    unsent--;
    if (!isFull || unsent > 0) return;
    isFull = false;
    tellRoom?.();
  };
  return {
    send(message) {
      if (isFull) return false;
      if (!channel.connected) return true;
      unsent++;
      isFull = !channel.send(message as object, sent);
      return true;
    },
    onRoom(listener) {
      tellRoom = listener;
    },
    onMessage(listener) {
      heard.push(listener);
      channel.on("message", listener);
    },
    onClose(listener) {
      channel.on("disconnect", listener);
    },
    release() {
      for (const listener of heard.splice(0)) channel.off("message", listener);
    },
  };
}
