import { parseDocument, type Document } from 'yaml';

/** Parses YAML as Helm does: `on` and `yes` are booleans; dates and 12:30 are text. */
export function readYaml(text: string): Document.Parsed {
  return parseDocument(text, {
    prettyErrors: false,
    schema: 'yaml-1.1',
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || (tag.tag !== 'tag:yaml.org,2002:timestamp' && tag.format !== 'TIME')),
  });
}
