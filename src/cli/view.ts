/** The display of a running crawl, as a socket: live in a terminal, or in plain lines elsewhere. */

export interface View {
  /** Prints a line of its own, already made visible. */
  note(line: string): void;
  /** Removes output that only makes sense while it runs. */
  close(): void;
}
