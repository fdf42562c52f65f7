/**
 * One end of a channel between two processes, as a socket, and Node's own channel as one.
 *
 * Node's channel to a forked process accepts messages without bound and keeps them in memory while the other side does
 * not read. A port refuses further messages until the accepted ones are with the system, so it holds one message and what
 * Node calls a full queue (128 KiB) at most.
 */

import type { ChildProcess } from "node:child_process";
import { assert } from "../../base/assert.ts";

export interface Port {
  /** False: refused; `onRoom` is called when it can be retried. True also when the other side is gone. */
  send(message: unknown): boolean;
  onRoom(listener: () => void): void;
  onMessage(listener: (message: unknown) => void): void;
  onClose(listener: () => void): void;
  /** Stops listening, so that the channel does not keep the process alive. */
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

/** The part of Node's channel that parent and child share. */
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
  // Called with an error once the other side is gone; that error has no effect.
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
