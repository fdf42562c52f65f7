/** The interface of a view: an element that shows the state of the crawl while it is visible. */

import type { Look } from "../shapes.ts";

export interface View {
  readonly element: HTMLElement;
  /** Called for every state while visible, and once when it becomes visible. */
  show(look: Look): void;
  /** The part after its name in the URL: `#outcomes/http_404`. */
  route?(rest: string): void;
  /** Called when it is hidden. */
  leave?(): void;
  /**
   * A key that was pressed while the view is visible and that had no other use; returns true when
   * it was used.
   */
  key?(event: KeyboardEvent): boolean;
}
