import { Validator, type OutputUnit, type SchemaDraft } from '@cfworker/json-schema';
import { isMap, isNode, isPair, isScalar, type Document, type Node } from 'yaml';
import type { Guide } from './guide';
import { isRecord, overlay } from './overlay';
import type { Step } from './place';
import { readYaml } from './readYaml';
import { schemasAt, typesOf, type Schema } from './schema';

/** A problem of the values and its position in their text. */
export interface Problem {
  from: number;
  to: number;
  /** `yaml` if the text is not valid YAML, otherwise the keyword of the schema that it violates. */
  rule: string;
  /** The path of the value, such as service.port; empty for the values as a whole. */
  path?: string;
  /** What the rule allows, in the words of the schema. */
  allowed?: string;
  /** The message of the parser or validator. */
  message: string;
}

/** Keywords that only report a violation of a nested keyword. */
const PASSING = new Set(['$ref', '$dynamicRef', '$recursiveRef', 'properties', 'patternProperties', 'additionalProperties', 'items', 'prefixItems', 'additionalItems', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas']);

const MASKED = /«masked:[0-9a-f]+»/;

/**
 * Validates values: first as YAML and then, merged into the chart's defaults as
 * Helm does it, against the chart's schema.
 */
export function problemsOf(text: string, guide: Guide | null): Problem[] {
  const document = readYaml(text);
  if (document.errors.length > 0) {
    return document.errors.map(({ pos: [from, to], message }) => ({ from, to, rule: 'yaml', message }));
  }
  const values: unknown = document.toJS({ maxAliasCount: 1000 });
  if (values !== null && (typeof values !== 'object' || Array.isArray(values))) {
    return [{ from: 0, to: text.length, rule: 'mapping', message: 'values are a mapping' }];
  }
  if (!guide?.schema) {
    return [];
  }
  const { schema } = guide;
  const merged = overlay(guide.defaults.toJS(), values ?? {});
  const units = violations(schema, merged);
  const own = units.filter(({ keyword }) => !PASSING.has(keyword));
  const problems = (own.length > 0 ? own : units.slice(0, 1))
    .map((unit) => locate(document, schema, merged, unit))
    .filter((problem) => problem !== null);
  // Alternative schemas report the same problem several times.
  return [...new Map(problems.map((problem) => [`${problem.from} ${problem.rule} ${problem.allowed ?? problem.message}`, problem])).values()];
}

/** Returns nothing if the schema cannot be used, for example because it refers to another one. Helm will report it. */
function violations(schema: Schema, values: unknown): OutputUnit[] {
  try {
    return new Validator(schema, draftOf(schema), false).validate(values).errors;
  } catch {
    return [];
  }
}

function draftOf({ $schema }: Schema): SchemaDraft {
  const named = /draft-0?4|draft-0?7|2019-09|2020-12/.exec(typeof $schema === 'string' ? $schema : '')?.[0];
  return named === undefined ? '2020-12' : named.startsWith('draft') ? (named.endsWith('4') ? '4' : '7') : (named as SchemaDraft);
}

function locate(document: Document, schema: Schema, values: unknown, { keyword, instanceLocation, error }: OutputUnit): Problem | null {
  const path = instanceLocation
    .split('/')
    .slice(1)
    .map((segment) => decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~'));
  const steps: Step[] = [];
  let value = values;
  for (const key of path) {
    steps.push(Array.isArray(value) ? null : key);
    value = (value as Record<string, unknown> | undefined)?.[key];
  }
  if (typeof value === 'string' && MASKED.test(value)) {
    return null; // The masked value is not known here.
  }
  return { ...rangeOf(document, path), rule: keyword, path: path.join('.'), allowed: allowedBy(keyword, schemasAt(schema, steps), value), message: error };
}

function allowedBy(keyword: string, said: readonly Schema[], value: unknown): string | undefined {
  const limit = said.find((each) => keyword in each)?.[keyword];
  switch (keyword) {
    case 'type':
      return typesOf(said).join(', ');
    case 'enum':
      return Array.isArray(limit) ? limit.map((each) => JSON.stringify(each)).join(', ') : undefined;
    case 'required':
      return Array.isArray(limit) ? limit.filter((key) => !isRecord(value) || !(String(key) in value)).join(', ') : undefined;
    default:
      return typeof limit === 'string' || limit === undefined ? limit : JSON.stringify(limit);
  }
}

/** The range of the key of `path` and its scalar value, or of the nearest parent in the text. */
function rangeOf(document: Document, path: readonly string[]): { from: number; to: number } {
  let node: unknown = document.contents;
  let range: { from: number; to: number } = { from: 0, to: 0 };
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => String(isScalar(item.key) ? item.key.value : item.key) === key);
      if (!pair || !isNode(pair.key)) {
        return range;
      }
      node = pair.value;
      range = { from: start(pair.key), to: isScalar(node) ? end(node) : end(pair.key) };
    } else {
      const item = isNode(node) && 'items' in node ? (node.items[Number(key)]) : undefined;
      if (!isNode(item) || isPair(item)) {
        return range;
      }
      node = item;
      range = { from: start(item), to: isScalar(item) ? end(item) : start(item) };
    }
  }
  return range;
}

const start = (node: Node): number => node.range?.[0] ?? 0;
const end = (node: Node): number => node.range?.[1] ?? 0;
