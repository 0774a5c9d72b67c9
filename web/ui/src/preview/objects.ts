/** One object of a rendered manifest, identified without parsing all of it. */
export interface RenderedObject {
  /** A unique key. */
  key: string;
  apiVersion: string;
  kind: string;
  name: string;
  /** The namespace in the manifest; without one it is that of the release. */
  namespace?: string;
  /** Whether it is a hook. */
  hook: boolean;
  /** Whether it is a Secret that Helm does not show. Only its `source` is known. */
  hidden: boolean;
  /** Its template. */
  source: string;
  text: string;
}

/** Splits a rendered manifest into its objects, in order. */
export function objectsOf(manifest: string): RenderedObject[] {
  const objects = manifest
    .split(/^---(?:[ \t].*)?$/m)
    .map((document) => document.replace(/^\n+|\s+$/g, ''))
    .map(readObject)
    .filter((object) => object !== null);
  return objects.map((object, i) => ({ ...object, key: `${i} ${object.kind} ${object.namespace ?? ''} ${object.name}` }));
}

function readObject(document: string): RenderedObject | null {
  const source = /^# Source: (.+)$/m.exec(document)?.[1]?.trim() ?? '';
  const text = document.replace(/^# Source: .+\n?/m, '');
  const hidden = /^# HIDDEN: /m.test(text);
  const lines = text.split('\n');
  const kind = fieldOf(lines, 'kind');
  if (!hidden && kind === undefined) {
    return null;
  }
  const metadata = blockOf(lines, 'metadata');
  return {
    key: '',
    source,
    text,
    hidden,
    kind: kind ?? 'Secret',
    apiVersion: fieldOf(lines, 'apiVersion') ?? '',
    name: fieldOf(metadata, 'name') ?? '',
    namespace: fieldOf(metadata, 'namespace'),
    hook: /^\s+["']?helm\.sh\/hook["']?:/m.test(text),
  };
}

/** Returns a scalar of the top-level mapping. */
function fieldOf(lines: readonly string[], key: string): string | undefined {
  const line = lines.find((each) => each.startsWith(`${key}:`));
  const value = line?.slice(key.length + 1).replace(/\s+#.*$/, '').trim();
  return value?.replace(/^(["'])(.*)\1$/, '$2') || undefined;
}

/** Returns the lines below a key without their indentation. */
function blockOf(lines: readonly string[], key: string): string[] {
  const start = lines.findIndex((line) => line.startsWith(`${key}:`)) + 1;
  const length = lines.slice(start).findIndex((line) => /^[^\s#]/.test(line));
  const block = start === 0 ? [] : lines.slice(start, length < 0 ? undefined : start + length);
  const indent = /^ */.exec(block.find((line) => line.trim() !== '' && !line.trimStart().startsWith('#')) ?? '')?.[0].length ?? 0;
  return block.map((line) => line.slice(indent));
}
