import { parseDocument, type Document } from 'yaml';

/** Reads YAML as helm does: `on` and `yes` are booleans, but a date is text and 12:30 too. */
export function readYaml(text: string): Document.Parsed {
  return parseDocument(text, {
    prettyErrors: false,
    schema: 'yaml-1.1',
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || (tag.tag !== 'tag:yaml.org,2002:timestamp' && tag.format !== 'TIME')),
  });
}
