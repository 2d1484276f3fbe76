// Which schema a reference means: resources by URI, anchors, and the dialect each resource speaks.

const VALIDATION = ['type', 'const', 'enum', 'required', 'minProperties', 'maxProperties', 'dependentRequired',
  'minItems', 'maxItems', 'uniqueItems', 'minContains', 'maxContains', 'minLength', 'maxLength', 'pattern', 'minimum',
  'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const DRAFT_2020 = {
  legacy: false, without: new Set(),
  one: ['additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not', 'propertyNames', 'then',
    'unevaluatedItems', 'unevaluatedProperties'],
  list: ['allOf', 'anyOf', 'oneOf', 'prefixItems'],
  map: ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'],
};
const DRAFT_7 = {
  legacy: true, without: new Set(),
  one: ['additionalItems', 'additionalProperties', 'contains', 'else', 'if', 'items', 'not', 'propertyNames', 'then'],
  list: ['allOf', 'anyOf', 'oneOf', 'items'],
  map: ['definitions', 'dependencies', 'patternProperties', 'properties'],
};
const VOCABULARY = 'https://json-schema.org/draft/2020-12/vocab/';
const URI = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

const withoutFragment = (uri) => {
  const at = uri.indexOf('#');
  return at < 0 ? uri : slice(uri, 0, at);
};

function withoutDots(path) {
  const kept = [];
  const parts = path.split('/');
  for (let i = 0; i < parts.length; i++) {
    const last = i === parts.length - 1;
    if (parts[i] === '..') { if (kept.length > 1) kept.pop(); if (last) kept.push(''); }
    else if (parts[i] === '.') { if (last) kept.push(''); }
    else kept.push(parts[i]);
  }
  return kept.join('/');
}

// RFC 3986, section 5.2. An empty base leaves the reference as it is.
function resolveUri(base, reference) {
  const r = exec(URI, reference);
  const fragment = r[5] === undefined ? '' : '#' + r[5];
  if (r[1] !== undefined) return reference;
  const b = exec(URI, base);
  let authority = b[2], path, query = r[4];
  if (r[2] !== undefined) { authority = r[2]; path = r[3]; }
  else if (r[3] === '') { path = b[3]; if (query === undefined) query = b[4]; }
  else if (r[3][0] === '/') path = withoutDots(r[3]);
  else {
    const at = b[3].lastIndexOf('/');
    const merged = at < 0 ? (b[2] === undefined ? r[3] : '/' + r[3]) : slice(b[3], 0, at + 1) + r[3];
    path = withoutDots(merged);
  }
  return (b[1] === undefined ? '' : b[1] + ':') + (authority === undefined ? '' : '//' + authority) + path
    + (query === undefined ? '' : '?' + query) + fragment;
}

function makeResolver(root, documents) {
  const resources = new Map();
  const homes = new Map(); // schema object -> the resource it stands in
  const resolver = { homeOf: (schema) => homes.get(schema), resolve, dynamic: false, root: undefined };

  function dialectOf(schema, inherited) {
    const named = own(schema, '$schema');
    if (typeof named !== 'string') return inherited;
    const uri = withoutFragment(named);
    if (uri === 'https://json-schema.org/draft/2020-12/schema') return DRAFT_2020;
    if (uri === 'http://json-schema.org/draft-07/schema') return DRAFT_7;
    const meta = own(documents, uri);
    const vocabularies = isRecord(meta) ? own(meta, '$vocabulary') : undefined;
    if (!isRecord(vocabularies) || !hasOwn(vocabularies, VOCABULARY + 'core')) return inherited;
    const validates = hasOwn(vocabularies, VOCABULARY + 'validation');
    return validates ? DRAFT_2020 : { ...DRAFT_2020, without: new Set(VALIDATION) };
  }

  function newResource(uri, schema, dialect) {
    const resource = { uri, schema, dialect, anchors: new Map(), dynamics: new Map() };
    if (!resources.has(uri)) resources.set(uri, resource);
    return resource;
  }

  function index(schema, outer) {
    if (!isRecord(schema) || homes.has(schema)) return;
    let here = outer;
    const dialect = schema === outer.schema ? outer.dialect : dialectOf(schema, outer.dialect);
    const id = own(schema, '$id');
    if (typeof id === 'string' && !(dialect.legacy && hasOwn(schema, '$ref'))) {
      const uri = resolveUri(outer.uri, id);
      const bare = withoutFragment(uri);
      if (id[0] !== '#') {
        // The root is known both by the name it was given and by the one it gives itself.
        if (schema === outer.schema) { here.uri = bare; if (!resources.has(bare)) resources.set(bare, here); }
        else here = newResource(bare, schema, dialect);
      }
      if (dialect.legacy && uri.length > bare.length + 1) here.anchors.set(slice(uri, bare.length + 1), schema);
    }
    homes.set(schema, here);
    if (!dialect.legacy) {
      const anchor = own(schema, '$anchor');
      if (typeof anchor === 'string') here.anchors.set(anchor, schema);
      const dynamic = own(schema, '$dynamicAnchor');
      if (typeof dynamic === 'string') { here.anchors.set(dynamic, schema); here.dynamics.set(dynamic, schema); }
      if (hasOwn(schema, '$dynamicRef')) resolver.dynamic = true;
    }
    for (const name of dialect.one) if (hasOwn(schema, name)) index(schema[name], here);
    for (const name of dialect.list) {
      if (hasOwn(schema, name) && isArray(schema[name])) for (const each of schema[name]) index(each, here);
    }
    for (const name of dialect.map) {
      const map = own(schema, name);
      if (isRecord(map)) for (const key of keysOf(map)) index(map[key], here);
    }
  }

  function load(uri, inherited) {
    if (!resources.has(uri) && hasOwn(documents, uri)) {
      const schema = documents[uri];
      index(schema, newResource(uri, schema, isRecord(schema) ? dialectOf(schema, inherited) : inherited));
    }
    return resources.get(uri);
  }

  // Gives {schema, resource, anchor}; anchor is the name, where the reference names a dynamic anchor.
  function resolve(from, reference) {
    const uri = resolveUri(from.uri, reference);
    const bare = withoutFragment(uri);
    let resource = bare === from.uri ? from : load(bare, from.dialect);
    if (resource === undefined) throw new Error('cannot resolve the reference ' + reference);
    const fragment = decodeText(slice(uri, bare.length + 1));
    if (fragment === '') return { schema: resource.schema, resource, anchor: undefined };
    if (fragment[0] !== '/') {
      const schema = resource.anchors.get(fragment);
      if (schema === undefined) throw new Error('cannot resolve the reference ' + reference);
      return { schema, resource, anchor: resource.dynamics.has(fragment) ? fragment : undefined };
    }
    let schema = resource.schema;
    for (const part of slice(fragment, 1).split('/')) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof schema !== 'object' || schema === null || !hasOwn(schema, key)) {
        throw new Error('cannot resolve the reference ' + reference);
      }
      schema = schema[key];
      if (homes.has(schema)) resource = homes.get(schema);
    }
    index(schema, resource);
    return { schema, resource: homes.get(schema) ?? resource, anchor: undefined };
  }

  const dialect = isRecord(root) ? dialectOf(root, DRAFT_2020) : DRAFT_2020;
  resolver.root = newResource('', root, dialect);
  index(root, resolver.root);
  // Dynamic references in documents that are reached later count too.
  for (const uri of keysOf(documents)) if (stringify(documents[uri]).includes('"$dynamicRef"')) resolver.dynamic = true;
  return resolver;
}
