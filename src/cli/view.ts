/** How a running crawl is shown, as a socket: live in a terminal, in plain lines elsewhere, or not. */

export interface View {
  /** Something worth a line of its own, already made visible. */
  note(line: string): void;
  /** Takes away what only made sense while it ran. */
  close(): void;
}
