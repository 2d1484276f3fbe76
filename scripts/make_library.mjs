// Make the sandbox's library for the checker: node make_library.mjs ASSETS writes ASSETS/checker/library.json, so that
// the checker need not make it each time it starts.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { libraryKey, makeLibrary, readEngine } from "../recallkit/definitions/checker/library.mjs";

const folder = join(resolve(process.argv[2]), "checker");
const lib = join(folder, "node_modules", "typescript", "lib");
const ts = createRequire(import.meta.url)(join(lib, "typescript.js"));
const made = { key: libraryKey(ts), files: makeLibrary(ts, lib, readEngine()) };
writeFileSync(join(folder, "library.json"), `${JSON.stringify(made)}\n`);
