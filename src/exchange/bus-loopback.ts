/**
 * A bus inside one process: nothing is lost on it but what nobody is there for.
 *
 * Each node has a bounded queue that is emptied in turns of the event loop, so that two nodes
 * talking for ever leave room for everything else.
 */

import { assert } from "../base/assert.ts";
import type { Bus, Inbox, Membership } from "./bus.ts";
import { receiverOf, routeOf, sealingMember } from "./sealing.ts";
import type { Item } from "./sealing.ts";

interface Post {
  readonly receive: (item: Item) => void;
  readonly queue: Item[];
}

export class LoopbackBus implements Bus {
  readonly #queueMax: number;
  readonly #posts = new Map<string, Post>();

  constructor(queueMax = 1_000) {
    this.#queueMax = queueMax;
  }

  async join(node: string, inbox: Inbox): Promise<Membership> {
    assert(!this.#posts.has(node), "a node is on the bus once");
    const post: Post = { receive: receiverOf(inbox), queue: [] };
    this.#posts.set(node, post);
    return sealingMember(
      node,
      (item) => this.#put(routeOf(item).to, item),
      () => {
        if (this.#posts.get(node) === post) this.#posts.delete(node);
      },
    );
  }

  async close(): Promise<void> {
    this.#posts.clear();
  }

  #put(node: string, item: Item): boolean {
    const post = this.#posts.get(node);
    if (post === undefined) return true;
    if (post.queue.length >= this.#queueMax) return false;
    post.queue.push(item);
    if (post.queue.length === 1) setImmediate(() => this.#deliver(node, post));
    return true;
  }

  #deliver(node: string, post: Post): void {
    for (const item of post.queue.splice(0)) {
      if (this.#posts.get(node) !== post) return;
      post.receive(item);
    }
  }
}
