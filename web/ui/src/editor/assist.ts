import { startCompletion, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import { hoverTooltip, type EditorView } from '@codemirror/view';
import type { Guide, Suggestion } from './guide';
import { keyAt, placeAt, type Place } from './place';

/** Suggests keys and values while typing and describes keys on hover. It calls `guide` each time. */
export function assist(guide: () => Guide | null): Extension {
  // The editor reads the sources repeatedly and starts over if they are not identical.
  const sources = [{ autocomplete: (context: CompletionContext) => complete(context, guide()) }];
  return [
    EditorState.languageData.of(() => sources),
    hoverTooltip((view, position) => {
      const known = guide();
      const found = known && keyUnder(view.state.doc, position);
      const text = found && describe(known, found.path);
      return found && text ? { pos: found.from, end: found.to, above: true, create: () => ({ dom: tooltip(text) }) } : null;
    }),
  ];
}

function linesUpTo(doc: Text, position: number): string[] {
  return doc.sliceString(0, position).split('\n');
}

function complete(context: CompletionContext, guide: Guide | null): CompletionResult | null {
  const place = guide && placeAt(linesUpTo(context.state.doc, context.pos));
  if (!place || (!context.explicit && place.kind === 'key' && place.word === '')) {
    return null;
  }
  const suggestions = place.kind === 'key' ? guide.keys(place.path) : guide.values(place.path);
  // Enter ends a complete line instead of accepting the word that is already there.
  if (place.kind === 'value' && suggestions.some(({ text }) => text === place.word)) {
    return null;
  }
  return {
    from: context.pos - place.word.length,
    options: suggestions.map((suggestion) => option(suggestion, place)),
    validFor: place.kind === 'key' ? /^[^\s:]*$/ : /^\S*$/,
  };
}

function option({ text, detail, description, holds }: Suggestion, { kind, indent }: Place): Completion {
  return {
    label: text,
    detail,
    info: description,
    type: kind === 'key' ? 'property' : 'enum',
    apply:
      kind === 'value'
        ? text
        : (view, _, from, to) => {
            insertKey(view, text, holds, indent, from, to);
          },
  };
}

/** Inserts a key and what follows it: a nested line, a dash, or the suggestions for its value. */
function insertKey(view: EditorView, key: string, holds: Suggestion['holds'], indent: number, from: number, to: number): void {
  const deeper = `\n${' '.repeat(indent + 2)}`;
  const insert = `${key}:${holds === 'mapping' ? deeper : holds === 'list' ? `${deeper}- ` : ' '}`;
  view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length }, userEvent: 'input.complete', scrollIntoView: true });
  if (holds === 'mapping' || holds === 'choice') {
    startCompletion(view);
  }
}

function keyUnder(doc: Text, position: number) {
  const line = doc.lineAt(position);
  const path = keyAt(linesUpTo(doc, line.to));
  const key = /^[\s-]*/.exec(line.text)?.[0].length ?? 0;
  const colon = line.text.indexOf(':', key);
  const inside = position >= line.from + key && position <= line.from + colon;
  return path && inside ? { path, from: line.from + key, to: line.from + colon } : null;
}

function describe(guide: Guide, path: NonNullable<ReturnType<typeof keyAt>>): string {
  const usual = guide.usual(path);
  const facts = [guide.types(path).join(', '), usual && `= ${usual}`].filter(Boolean).join(' ');
  return [guide.describe(path), facts].filter(Boolean).join('\n');
}

/** Renders a chart's text, never as markup. */
function tooltip(text: string): HTMLElement {
  const element = document.createElement('div');
  element.className = 'cm-described';
  element.textContent = text;
  return element;
}
