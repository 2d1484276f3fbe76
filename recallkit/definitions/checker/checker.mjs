// The checker's worker: reads one request a line from its input, writes one answer a line. It runs nothing that it
// reads. Argument: the folder of the assets: node_modules, and library.json where the build made it.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

import { Check } from "./check.mjs";
import { Compiler } from "./compiler.mjs";
import { libraryKey, makeLibrary, readEngine } from "./library.mjs";

const [, , assets] = process.argv;
const lib = join(assets, "node_modules", "typescript", "lib");
const ts = createRequire(import.meta.url)(join(lib, "typescript.js"));
const { blankSourceFile } = await import(pathToFileURL(join(assets, "node_modules", "ts-blank-space", "out", "index.js")).href);

const check = new Check(ts, blankSourceFile, new Compiler(ts, readLibrary()));
warm();
answer({ ready: true, typescript: ts.version });

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const request = JSON.parse(line);
  answer({ id: request.id, ...run(request) });
}

function run(request) {
  try {
    return { result: check.run(request) };
  } catch (error) {
    // Deep nesting overflows the compiler's stack; anything else is a fault of the compiler itself.
    return { failed: error instanceof RangeError ? "deep" : String(error?.message ?? error).slice(0, 500) };
  }
}

function answer(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

function readLibrary() {
  const file = join(assets, "library.json");
  if (existsSync(file)) {
    const { key, files } = JSON.parse(readFileSync(file, "utf8"));
    if (key === libraryKey(ts)) return files;
  }
  return makeLibrary(ts, lib, readEngine());
}

/** A check or two of ordinary text, so that the compiler's own code is warm before the first document. */
function warm() {
  const declarations = "type Json = null | boolean | number | string | Json[] | { [key: string]: Json };\n" +
    "type Input = { rows: { a: string; n: number }[] };\ntype Output = Json;\n";
  const body = "export default function (input: Input): Output {\n" +
    "  const by = [...Map.groupBy(input.rows, (row) => row.a)].toSorted(([a], [b]) => (a < b ? -1 : 1));\n" +
    "  return by.map(([a, rows]) => ({ a, n: rows.reduce((sum, row) => sum + row.n, 0), text: `${a}`.slice(0, 3) }));\n}\n";
  for (let turn = 0; turn < 2; turn++) {
    check.run({ kind: "computation", body, declarations, expressions: turn === 0 ? [] : ["$data.n > 1"], assignments: 500 });
  }
}
