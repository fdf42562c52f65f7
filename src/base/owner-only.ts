/** The mode of a crawl's folders: other users of the machine can neither read nor list the downloads. */

export const OWNER_ONLY = 0o700;
