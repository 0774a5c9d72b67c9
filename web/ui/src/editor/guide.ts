import { isMap, isScalar, isSeq, type Document, type Node } from 'yaml';
import type { ChartDetails } from '../api/charts';
import type { Step } from './place';
import { readYaml } from './readYaml';
import { choicesOf, isText, propertiesOf, saidOf, schemasAt, typesOf, type Schema } from './schema';

/** A chart's values.yaml and, if it has one, its schema. */
export type ChartValues = Pick<ChartDetails, 'schema' | 'values'>;

/** A key or value to suggest. */
export interface Suggestion {
  text: string;
  /** Its type, or its default. */
  detail?: string;
  description?: string;
  /** For keys: what the value is. */
  holds?: 'mapping' | 'list' | 'choice';
}

/** Suggests keys and values from a chart's schema and default values. */
export class Guide {
  readonly schema: Schema | null;
  readonly defaults: Document;

  constructor({ schema, values }: ChartValues) {
    this.schema = schema;
    this.defaults = readYaml(values);
  }

  /** The keys of the mapping at `path`, first those of the schema, then those of the defaults. */
  keys(path: readonly Step[]): Suggestion[] {
    const names = new Set(this.#schemas(path).flatMap((schema) => Object.keys(propertiesOf(schema))));
    const mapping = this.#default(path);
    if (isMap(mapping)) {
      for (const { key } of mapping.items) {
        names.add(String(isScalar(key) ? key.value : key));
      }
    }
    return [...names].map((name) => {
      const there = [...path, name];
      return { text: asYaml(name), detail: this.#kind(there), description: this.describe(there), holds: this.#holds(there) };
    });
  }

  /** The possible values at `path`, if they can be enumerated. */
  values(path: readonly Step[]): Suggestion[] {
    const schemas = this.#schemas(path);
    const choices = choicesOf(schemas);
    const examples = schemas.flatMap(({ examples: said }) => (Array.isArray(said) ? (said as unknown[]) : []));
    const usual = this.#default(path);
    const defaults = [...schemas.flatMap((schema) => ('default' in schema ? [schema['default']] : [])), ...(isScalar(usual) ? [usual.value] : [])];
    const all = choices.length > 0 ? choices : [...defaults, ...examples];
    const texts = new Set(all.filter((value) => typeof value !== 'object' && value !== '').map(asYaml));
    return [...texts].map((text) => ({ text }));
  }

  /** The description of the value at `path`: that of the schema, or the comment above the default. */
  describe(path: readonly Step[]): string | undefined {
    const schemas = this.#schemas(path);
    return saidOf(schemas, 'description', isText) ?? saidOf(schemas, 'title', isText) ?? this.#comment(path);
  }

  /** The chart's default at `path` as one line of YAML; undefined if it is long. */
  usual(path: readonly Step[]): string | undefined {
    const node = this.#default(path);
    const text = isScalar(node) ? asYaml(node.value) : undefined;
    return text !== undefined && text.length <= 80 ? text : undefined;
  }

  types(path: readonly Step[]): string[] {
    return typesOf(this.#schemas(path));
  }

  #schemas(path: readonly Step[]): Schema[] {
    return this.schema ? schemasAt(this.schema, path) : [];
  }

  #default(path: readonly Step[]): Node | null {
    return (this.defaults.getIn(path.map((to) => to ?? 0), true) as Node | undefined) ?? null;
  }

  #comment(path: readonly Step[]): string | undefined {
    const parent = path.length > 1 ? this.#default(path.slice(0, -1)) : this.defaults.contents;
    if (!isMap(parent)) {
      return undefined;
    }
    const index = parent.items.findIndex(({ key }) => String(isScalar(key) ? key.value : key) === path.at(-1));
    const key = parent.items[index]?.key as Node | undefined;
    // The comment above a mapping's first key belongs to the mapping.
    const comment = key?.commentBefore ?? (index === 0 ? parent.commentBefore : undefined);
    return comment?.split(/\n\s*\n/).at(-1)?.replace(/^ ?(-- )?/gm, '').trim() || undefined;
  }

  #kind(path: readonly Step[]): string | undefined {
    return this.usual(path) ?? (this.types(path).join(', ') || undefined);
  }

  #holds(path: readonly Step[]): Suggestion['holds'] {
    const types = this.types(path);
    const usual = this.#default(path);
    if (types.length > 0 ? types[0] === 'object' : isMap(usual)) {
      return 'mapping';
    }
    if (types.length > 0 ? types[0] === 'array' : isSeq(usual)) {
      return 'list';
    }
    return choicesOf(this.#schemas(path)).length > 0 ? 'choice' : undefined;
  }
}

/** Formats a key or scalar as YAML, quoted if it would be parsed as another type. */
function asYaml(value: unknown): string {
  if (typeof value !== 'string') {
    return JSON.stringify(value);
  }
  const plain = /^[\w./][\w ./@+-]*$/.test(value) && !/\s$/.test(value) && readYaml(value).toJS() === value;
  return plain ? value : JSON.stringify(value);
}
