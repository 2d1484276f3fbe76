// Run inside the engine, before anything is taken away: what each global holds. `own` lists the members of the value
// itself with what it inherits, `members` those of what it constructs; well-known symbols as @@name.
(() => {
  const named = (key) => (typeof key === "symbol" ? `@@${String(key.description).replace("Symbol.", "")}` : key);
  const keysOf = (value) => {
    const keys = new Set();
    for (let each = value; each !== null && each !== undefined; each = Object.getPrototypeOf(each)) {
      for (const key of Reflect.ownKeys(each)) keys.add(named(key));
    }
    return [...keys].sort();
  };
  const samples = {
    AggregateError: () => new AggregateError([1], "a", { cause: 1 }),
    Error: () => new Error("a", { cause: 1 }),
    EvalError: () => new EvalError("a", { cause: 1 }),
    RangeError: () => new RangeError("a", { cause: 1 }),
    ReferenceError: () => new ReferenceError("a", { cause: 1 }),
    SyntaxError: () => new SyntaxError("a", { cause: 1 }),
    TypeError: () => new TypeError("a", { cause: 1 }),
    URIError: () => new URIError("a", { cause: 1 }),
    Array: () => [],
    Function: () => function () {},
    RegExp: () => /a/d,
    String: () => new String(""),
  };
  const library = {};
  for (const name of Reflect.ownKeys(globalThis).filter((key) => typeof key === "string").sort()) {
    const value = globalThis[name];
    if (name === "globalThis") library[name] = { own: [] };
    else if (value === null || (typeof value !== "object" && typeof value !== "function")) library[name] = { own: [] };
    else {
      library[name] = { own: keysOf(value) };
      const sample = Object.hasOwn(samples, name) ? samples[name]() : value.prototype;
      if (typeof value === "function" && sample !== undefined && sample !== null) library[name].members = keysOf(sample);
    }
  }
  return JSON.stringify(library);
})()
