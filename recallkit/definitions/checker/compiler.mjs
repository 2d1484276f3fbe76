// The compiler, set up once: the sandbox's library parsed, and programs of a few small files beside it.

/** A compiler whose library stands ready. `check(files)` makes a program of them and tells what is wrong with each. */
export class Compiler {
  #ts;
  #library = new Map();
  #options;
  #before;

  constructor(ts, library) {
    this.#ts = ts;
    this.#options = {
      strict: true,
      exactOptionalPropertyTypes: true,
      erasableSyntaxOnly: true,
      noEmit: true,
      noLib: true, // the library is a root file
      types: [],
      target: ts.ScriptTarget.ES2025,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      moduleDetection: ts.ModuleDetectionKind.Force,
      allowUnreachableCode: true,
      allowUnusedLabels: true,
      skipLibCheck: false,
    };
    for (const { name, text } of library) this.#library.set(`/${name}`, this.parse(`/${name}`, text));
  }

  /** Parse a file. What a comment could switch off stays on: no directive in the text is obeyed. */
  parse(name, text) {
    const ts = this.#ts;
    const source = ts.createSourceFile(
      name,
      text,
      { languageVersion: this.#options.target, jsDocParsingMode: ts.JSDocParsingMode.ParseNone },
      true,
    );
    if (!name.endsWith(".d.ts")) source.externalModuleIndicator = true; // a module, whether or not it exports anything
    source.commentDirectives = undefined; // @ts-ignore, @ts-expect-error
    source.checkJsDirective = undefined; // @ts-nocheck
    source.referencedFiles = [];
    source.typeReferenceDirectives = [];
    source.libReferenceDirectives = [];
    source.amdDependencies = [];
    source.hasNoDefaultLib = false;
    source.pragmas = new Map();
    return source;
  }

  /** The diagnostics of the grammar alone. */
  grammar(source) {
    return source.parseDiagnostics;
  }

  /**
   * Analyse files together.
   * @param files parsed sources by name; an import of "./module" finds "/module.ts" and no other import finds anything
   * @returns a function that gives a file's diagnostics; its `checker` resolves names
   */
  analyse(files) {
    const ts = this.#ts;
    const all = new Map([...this.#library, ...files]);
    const host = {
      getSourceFile: (name) => all.get(name),
      getDefaultLibFileName: () => "/sandbox.d.ts",
      writeFile: () => {},
      getCurrentDirectory: () => "/",
      getCanonicalFileName: (name) => name,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => "\n",
      fileExists: (name) => all.has(name),
      readFile: () => undefined,
      directoryExists: () => false,
      getDirectories: () => [],
      resolveModuleNameLiterals: (literals, containing) =>
        literals.map((each) => ({
          resolvedModule:
            each.text === "./module" && containing === "/entry.ts"
              ? { resolvedFileName: "/module.ts", extension: ".ts", isExternalLibraryImport: false }
              : undefined,
        })),
    };
    const program = ts.createProgram({
      rootNames: [...all.keys()],
      options: this.#options,
      host,
      oldProgram: this.#before,
    });
    this.#before = program;
    const told = (source) => program.getSemanticDiagnostics(source);
    return Object.assign(told, { checker: program.getTypeChecker() });
  }
}

/** A diagnostic's words on one line, with the chain of reasons behind them. */
export function wordsOf(message) {
  if (typeof message === "string") return message.replace(/\s*[\r\n\u2028\u2029]\s*/gu, " ");
  return [message.messageText, ...(message.next ?? []).map(wordsOf)].join(" ").replace(/\s*[\r\n\u2028\u2029]\s*/gu, " ");
}
