/** The mode of every folder of a crawl: other users of the machine neither read nor list what was fetched. */

export const OWNER_ONLY = 0o700;
