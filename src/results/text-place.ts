/** Where the archive holds what a page says: a repeated page is there once, under the one it repeats. */

import type { ArchivePlace, PageRecord } from "../page/page.ts";
import type { Store } from "../store/store.ts";

export function textPlaceOf(
  store: Pick<Store, "page">,
  page: PageRecord,
): ArchivePlace | undefined {
  const { likeness } = page;
  const isRepeat = likeness !== undefined && likeness.kind !== "near";
  return isRepeat ? store.page(likeness.ofId)?.archived : page.archived;
}
