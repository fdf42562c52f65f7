/**
 * Ends the lines of a response head with CRLF where the server has written a bare LF.
 *
 * RFC 9112 (2.2) permits a receiver to accept it, and browsers do; the parser does not, and undici gives no
 * access to its setting. Only heads are changed: bytes of a body, its chunk sizes and trailers pass as they are.
 * The work is one `indexOf` for each line of a head, and a copy where a line was repaired.
 */

const LF = 10;
const CR = 13;
/** The first digit of the status in `HTTP/1.1 200 OK`. */
const STATUS_AT = 9;
const CR_LF = Buffer.from("\r\n");

export class LineEnds {
  #isInHead = false;
  #repaired = 0;
  #isFirstLine = true;
  /** Bytes of the present line that came in earlier pieces, and the last of them. */
  #lineBytes = 0;
  #lastByte = 0;
  #isInterim = false;

  /** Lines repaired in the heads since the last request. */
  get repaired(): number {
    return this.#repaired;
  }

  /** A request goes out: the next byte begins the head of its response. */
  begin(): void {
    this.#repaired = 0;
    this.#beginHead();
  }

  #beginHead(): void {
    this.#isInHead = true;
    this.#isFirstLine = true;
    this.#isInterim = false;
    this.#lineBytes = 0;
    this.#lastByte = 0;
  }

  /** Takes the next piece of what the server sends, and answers what the parser may read. */
  take(piece: Buffer): Buffer {
    if (!this.#isInHead) return piece;
    const parts: Buffer[] = [];
    let copiedTo = 0;
    let lineAt = 0;
    while (this.#isInHead) {
      const end = piece.indexOf(LF, lineAt);
      this.#readStatus(piece, lineAt);
      if (end < 0) break;
      const before = end === lineAt ? this.#lastByte : (piece[end - 1] ?? 0);
      const isBare = before !== CR;
      if (isBare) {
        parts.push(piece.subarray(copiedTo, end), CR_LF);
        copiedTo = end + 1;
        this.#repaired += 1;
      }
      this.#endLine(this.#lineBytes + end - lineAt - (isBare ? 0 : 1));
      lineAt = end + 1;
    }
    if (this.#isInHead && piece.length > lineAt) {
      this.#lineBytes += piece.length - lineAt;
      this.#lastByte = piece[piece.length - 1] ?? 0;
    }
    if (parts.length === 0) return piece;
    parts.push(piece.subarray(copiedTo));
    return Buffer.concat(parts);
  }

  #readStatus(piece: Buffer, lineAt: number): void {
    if (!this.#isFirstLine || this.#lineBytes > STATUS_AT) return;
    const digit = piece[lineAt + STATUS_AT - this.#lineBytes];
    if (digit !== undefined) this.#isInterim = digit === 0x31;
  }

  #endLine(contentBytes: number): void {
    this.#lineBytes = 0;
    this.#lastByte = 0;
    // An empty line before the status line is skipped by the parser, too.
    if (contentBytes > 0) this.#isFirstLine = false;
    else if (this.#isInterim) this.#beginHead();
    else if (!this.#isFirstLine) this.#isInHead = false;
  }
}

/** Puts `ends` between a connection and all that reads from it. */
export function repairLines(
  stream: { push(piece: unknown, encoding?: BufferEncoding): boolean },
  ends: LineEnds,
): void {
  const push = stream.push.bind(stream);
  stream.push = (piece, encoding) =>
    push(Buffer.isBuffer(piece) ? ends.take(piece) : piece, encoding);
}
