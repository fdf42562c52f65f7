/** What an editor knows of a program: the errors in it, and the text that it shows for a name. */

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { API } from "typescript/unstable/sync";
import { ROOT } from "../cli/program.ts";

/** So that `from "weir"` in the folder means the sources. */
export const FROM_SOURCES = {
  weir: [join(ROOT, "src/index.ts")],
  "weir/lab": [join(ROOT, "src/lab/lab.ts")],
};

type Programs = Readonly<Record<string, string>>;
type Paths = Readonly<Record<string, readonly string[]>>;

/** Writes the programs into the folder, and reports what the compiler holds against them. */
export function errorsIn(folder: string, programs: Programs, paths: Paths): string[] {
  const config = writeProject(folder, programs, paths);
  const api = new API({ cwd: folder });
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
  if (project === undefined) throw new Error(`no project in ${folder}`);
  const { program } = project;
  const found = Object.entries(programs).flatMap(([name, text]) => {
    const file = join(folder, name);
    if (program.getSourceFile(file) === undefined) return [`${name} is not in the project`];
    return [program.getSyntacticDiagnostics(file), program.getSemanticDiagnostics(file)]
      .flat()
      .map((error) => `${name}, at ${text.slice(error.pos, error.pos + 40)}: ${error.text}`);
  });
  api.close();
  return found;
}

/** What the language server shows for the names in a program, each where the name is written first. */
export async function hoverTexts(
  folder: string,
  text: string,
  names: readonly string[],
  paths: Paths,
): Promise<Map<string, string>> {
  writeProject(folder, { "use.ts": text }, paths);
  const server = new LanguageServer(folder);
  try {
    return await server.hoverTexts(join(folder, "use.ts"), text, names);
  } finally {
    await server.close();
  }
}

function writeProject(folder: string, programs: Programs, paths: Paths): string {
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const typeRoots = [join(ROOT, "node_modules/@types")];
  const settings = {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: { paths, typeRoots, noUnusedLocals: false },
    include: ["*.ts"],
  };
  const config = join(folder, "tsconfig.json");
  writeFileSync(config, JSON.stringify(settings));
  return config;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly items?: readonly unknown[] };
  readonly result?: { readonly contents?: { readonly value: string } } | null;
}

/** The program that editors ask, over its standard streams (Language Server Protocol). */
class LanguageServer {
  readonly #process;
  readonly #ended: Promise<unknown>;
  readonly #waiting = new Map<number, (message: Message) => void>();
  #received: Buffer = Buffer.alloc(0);
  #lastId = 0;

  constructor(folder: string) {
    const program = join(ROOT, "node_modules/.bin/tsc");
    this.#process = spawn(program, ["--lsp", "--stdio"], {
      cwd: folder,
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#process.stdout.on("data", (bytes: Buffer) => this.#take(bytes));
    this.#ended = new Promise((resolve) => this.#process.on("close", resolve));
  }

  async hoverTexts(
    file: string,
    text: string,
    names: readonly string[],
  ): Promise<Map<string, string>> {
    const capabilities = { textDocument: { hover: { contentFormat: ["markdown"] } } };
    const rootUri = pathToFileURL(join(file, "..")).href;
    await this.#ask("initialize", { processId: process.pid, rootUri, capabilities });
    this.#send({ method: "initialized", params: {} });
    const uri = pathToFileURL(file).href;
    const document = { uri, languageId: "typescript", version: 1, text };
    this.#send({ method: "textDocument/didOpen", params: { textDocument: document } });
    const texts = new Map<string, string>();
    for (const name of names) {
      const before = text.slice(0, text.search(new RegExp(`\\b${name}:`))).split("\n");
      const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
      const params = { textDocument: { uri }, position };
      const { result } = await this.#ask("textDocument/hover", params);
      texts.set(name, result?.contents?.value ?? "");
    }
    return texts;
  }

  async close(): Promise<void> {
    this.#process.kill();
    await this.#ended;
  }

  #ask(method: string, params: object): Promise<Message> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ id, method, params });
    });
  }

  #send(message: object): void {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  #take(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (;;) {
      const bodyAt = this.#received.indexOf("\r\n\r\n") + 4;
      const length = /Content-Length: (\d+)/.exec(
        this.#received.toString("latin1", 0, bodyAt),
      )?.[1];
      if (bodyAt < 4 || this.#received.length < bodyAt + Number(length)) return;
      const end = bodyAt + Number(length);
      const message = JSON.parse(this.#received.toString("utf8", bodyAt, end)) as Message;
      this.#received = this.#received.subarray(end);
      if (message.id === undefined) continue;
      // The server asks too, for settings of the editor: there are none.
      if (message.method !== undefined)
        this.#send({ id: message.id, result: message.params?.items?.map(() => null) ?? null });
      else this.#waiting.get(message.id)?.(message);
    }
  }
}
