/** Which Weir this is; the test run fails when package.json says another. */

export const VERSION = "0.1.0";
