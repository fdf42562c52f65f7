/** What every view is: an element that is shown what the crawl looks like, while it is in sight. */

import type { Look } from "../shapes.ts";

export interface View {
  readonly element: HTMLElement;
  /** Called with every look while in sight, and once when it comes into sight. */
  show(look: Look): void;
  /** What follows its name in the address: `#outcomes/http_404`. */
  route?(rest: string): void;
  /** Goes out of sight. */
  leave?(): void;
  /**
   * A key that was pressed while the view is visible and that had no other use; returns true when
   * it was used.
   */
  key?(event: KeyboardEvent): boolean;
}
