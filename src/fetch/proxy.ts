/** The address of a proxy, with its login. */

export interface Proxy {
  readonly kind: "http" | "socks5";
  readonly host: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`; never put into an error. */
  readonly authorization: string | undefined;
  /** The login of SOCKS5, as it is sent (RFC 1929); never put into an error. */
  readonly login?: Uint8Array | undefined;
}

const LOGIN_VERSION = 1;
const LOGIN_TEXT_BYTES_MAX = 255;

/** Reads `http://user:password@host:port`, or the same with `socks5:`; undefined when it is anything else. */
export function readProxy(text: string): Proxy | undefined {
  const url = URL.parse(text);
  if (url === null || url.hostname === "" || url.search !== "" || url.hash !== "") return undefined;
  if (url.pathname !== "/" && url.pathname !== "") return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const [user, password] = [unescape(url.username), unescape(url.password)];
  const hasLogin = user !== "" || password !== "";
  const port = (usual: number): number => (url.port === "" ? usual : Number(url.port));
  switch (url.protocol) {
    case "http:": {
      const credentials = Buffer.from(`${user}:${password}`).toString("base64");
      const authorization = hasLogin ? `Basic ${credentials}` : undefined;
      return { kind: "http", host, port: port(80), authorization };
    }
    // With curl's second name, too: names are always looked up by the proxy.
    case "socks5:":
    case "socks5h:": {
      const login = hasLogin ? socksLogin(user, password) : undefined;
      if (hasLogin && login === undefined) return undefined;
      return { kind: "socks5", host, port: port(1080), authorization: undefined, login };
    }
    default:
      return undefined;
  }
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** undefined if a part is too long for the protocol. */
function socksLogin(user: string, password: string): Uint8Array | undefined {
  const [name, secret] = [Buffer.from(user), Buffer.from(password)];
  if (name.length > LOGIN_TEXT_BYTES_MAX || secret.length > LOGIN_TEXT_BYTES_MAX) return undefined;
  const lengths = [Buffer.from([LOGIN_VERSION, name.length]), Buffer.from([secret.length])];
  return Buffer.concat([lengths[0] as Buffer, name, lengths[1] as Buffer, secret]);
}
