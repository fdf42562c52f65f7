/** What an editor knows of a program: the errors in it, and the hover texts of the options it gives. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { API } from "typescript/unstable/sync";
import type { Node } from "typescript/unstable/ast";
import { ROOT } from "../cli/program.ts";

/** TypeScript's view of the program `use.ts` that it writes into the folder. */
export interface Editor {
  readonly errors: readonly string[];
  /** The hover text of a member of the object that begins with this text. */
  hover(objectBegins: string, member: string): string;
}

/** So that `from "weir"` in the folder means the sources. */
export const FROM_SOURCES = {
  weir: [join(ROOT, "src/index.ts")],
  "weir/lab": [join(ROOT, "src/lab/lab.ts")],
};

export function openIn(
  folder: string,
  programs: Readonly<Record<string, string>>,
  paths: Readonly<Record<string, readonly string[]>>,
): { readonly editors: ReadonlyMap<string, Editor> } & Disposable {
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const settings = {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: {
      paths,
      typeRoots: [join(ROOT, "node_modules/@types")],
      noUnusedLocals: false,
    },
    include: ["*.ts"],
  };
  const config = join(folder, "tsconfig.json");
  writeFileSync(config, JSON.stringify(settings));
  const api = new API({ cwd: folder });
  const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
  if (project === undefined) throw new Error(`no project in ${folder}`);
  const { program, checker } = project;
  const editors = new Map<string, Editor>();
  for (const name of Object.keys(programs)) {
    const file = program.getSourceFile(join(folder, name));
    if (file === undefined) throw new Error(`${name} is not in the project`);
    const found = [
      ...program.getSyntacticDiagnostics(file.fileName),
      ...program.getSemanticDiagnostics(file.fileName),
    ];
    editors.set(name, {
      errors: found.map(
        ({ text, pos }) => `${name}, at ${file.text.slice(pos, pos + 40)}: ${text}`,
      ),
      hover(objectBegins, member) {
        const object = firstIn(file, (node) => node.getText(file).startsWith(objectBegins));
        const type = object && checker.getContextualType(object as never);
        const property = type && checker.getPropertyOfType(type, member);
        return property === undefined ? "" : checker.getDocumentationCommentOfSymbol(property);
      },
    });
  }
  return { editors, [Symbol.dispose]: () => api.close() };
}

function firstIn(node: Node, is: (node: Node) => boolean): Node | undefined {
  if (is(node)) return node;
  return node.forEachChild((child) => firstIn(child, is));
}
