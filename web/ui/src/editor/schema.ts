import type { Step } from './place';

/** A JSON schema. */
export type Schema = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);

const schemasIn = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isSchema) : isSchema(value) ? [value] : []);

/** Resolves a schema that refers to others. The depth is limited because a schema may refer to itself. */
function expand(root: Schema, schema: Schema, seen = new Set<Schema>()): Schema[] {
  if (seen.has(schema)) {
    return [];
  }
  seen.add(schema);
  const referred = typeof schema['$ref'] === 'string' ? schemasIn(resolve(root, schema['$ref'])) : [];
  const parts = ['allOf', 'anyOf', 'oneOf', 'then', 'else'].flatMap((keyword) => schemasIn(schema[keyword]));
  return [schema, ...[...referred, ...parts].flatMap((part) => expand(root, part, seen))];
}

/** Follows a reference within the schema. Other documents are not fetched. */
function resolve(root: Schema, ref: string): unknown {
  if (!ref.startsWith('#')) {
    return undefined;
  }
  let found: unknown = root;
  for (const segment of decodeURIComponent(ref.slice(1)).split('/').slice(1)) {
    found = isSchema(found) || Array.isArray(found) ? (found as Schema)[segment.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return found;
}

function step(schema: Schema, to: Step): Schema[] {
  if (to === null) {
    return [...schemasIn(schema['prefixItems']), ...schemasIn(schema['items'])];
  }
  const own = propertiesOf(schema)[to];
  if (own !== undefined) {
    return schemasIn(own);
  }
  const patterns = Object.entries(isSchema(schema['patternProperties']) ? schema['patternProperties'] : {});
  const fitting = patterns.filter(([pattern]) => matches(pattern, to)).flatMap(([, value]) => schemasIn(value));
  return fitting.length > 0 ? fitting : schemasIn(schema['additionalProperties']);
}

function matches(pattern: string, key: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(key);
  } catch {
    return false;
  }
}

/** The schemas of the value at `path`: several where alternatives exist. */
export function schemasAt(root: Schema, path: readonly Step[]): Schema[] {
  let found = expand(root, root);
  for (const to of path) {
    found = found.flatMap((schema) => step(schema, to)).flatMap((schema) => expand(root, schema));
  }
  return found;
}

/** The keys that a schema names. */
export function propertiesOf(schema: Schema): Schema {
  return isSchema(schema['properties']) ? schema['properties'] : {};
}

/** The value of a keyword in the first of the schemas that has it. */
export function saidOf<Kind>(schemas: readonly Schema[], keyword: string, is: (value: unknown) => value is Kind): Kind | undefined {
  return schemas.map((schema) => schema[keyword]).find(is);
}

export const isText = (value: unknown): value is string => typeof value === 'string';

/** The allowed JSON schema types of a value. */
export function typesOf(schemas: readonly Schema[]): string[] {
  return [...new Set(schemas.flatMap(({ type }) => (Array.isArray(type) ? type.filter(isText) : isText(type) ? [type] : [])))];
}

/** The allowed values if they are enumerated. */
export function choicesOf(schemas: readonly Schema[]): unknown[] {
  const said = schemas.flatMap((schema) => [
    ...(Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : []),
    ...('const' in schema ? [schema['const']] : []),
  ]);
  return said.length === 0 && typesOf(schemas).includes('boolean') ? [true, false] : said;
}
