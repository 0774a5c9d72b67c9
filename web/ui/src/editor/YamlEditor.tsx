import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { linter, lintGutter, type Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { yaml } from '@codemirror/lang-yaml';
import { tags } from '@lezer/highlight';
import { basicSetup, EditorView } from 'codemirror';
import { useEffect, useRef } from 'react';
import { parseDocument } from 'yaml';

export interface YamlEditorProps {
  /** What a screen reader calls it. */
  label: string;
  /** The text at first, and whenever it becomes another from outside. */
  value: string;
  /** Called with the whole text whenever it is edited; without it nothing can be. */
  onChange?: (value: string) => void;
  height?: string;
  /** It is text of another kind. */
  plain?: boolean;
}

/** PatternFly's tokens reach into the editor, so that it is dark when the page is. */
const look = EditorView.theme({
  '&': {
    height: '100%',
    fontSize: 'var(--pf-t--global--font--size--body--sm)',
    backgroundColor: 'var(--pf-t--global--background--color--primary--default)',
    color: 'var(--pf-t--global--text--color--regular)',
  },
  '&.cm-focused': { outline: '2px solid var(--pf-t--global--border--color--clicked)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--pf-t--global--font--family--mono)', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--pf-t--global--text--color--regular)' },
  '.cm-cursor': { borderLeftColor: 'var(--pf-t--global--text--color--regular)' },
  '.cm-gutters': {
    backgroundColor: 'var(--pf-t--global--background--color--secondary--default)',
    color: 'var(--pf-t--global--text--color--subtle)',
    border: 'none',
  },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '.cm-panels, .cm-tooltip': {
    backgroundColor: 'var(--pf-t--global--background--color--floating--default)',
    color: 'var(--pf-t--global--text--color--regular)',
  },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--pf-t--global--background--color--action--plain--clicked)',
  },
});

const colors = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--pf-t--global--text--color--link--default)' },
    { tag: [tags.comment, tags.meta], color: 'var(--pf-t--global--text--color--subtle)', fontStyle: 'italic' },
    { tag: [tags.keyword, tags.bool, tags.null], fontWeight: 'bold' },
  ]),
);

/** Says where the text is no YAML. */
const check = linter((view): Diagnostic[] =>
  parseDocument(view.state.doc.toString(), { prettyErrors: false }).errors.map(({ pos: [from, to], message }) => ({
    from: Math.min(from, view.state.doc.length),
    to: Math.min(to, view.state.doc.length),
    severity: 'error',
    message,
  })),
);

/**
 * Typing over a selection, a browser keeps the look of what it replaces in an
 * inline style, which the pages' policy forbids. So the editor does it instead.
 */
const replacing = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== 'insertText' || event.data === null || view.composing || view.state.selection.main.empty) {
      return false;
    }
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

/**
 * Shows YAML of any length, to be read or edited. It stands in a shadow root:
 * there its styles need no style element, which the pages' policy forbids.
 */
export default function YamlEditor({ label, value, onChange, height = '24rem', plain = false }: YamlEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const changed = useRef(onChange);
  const readOnly = onChange === undefined;

  useEffect(() => {
    changed.current = onChange;
  }, [onChange]);

  useEffect(() => {
    const { current } = host;
    if (!current) {
      return;
    }
    const root = current.shadowRoot ?? current.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      parent: root,
      root,
      extensions: [
        basicSetup,
        plain ? [] : yaml(),
        look,
        colors,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        readOnly ? [EditorState.readOnly.of(true), EditorView.lineWrapping] : [check, lintGutter(), replacing],
        EditorView.updateListener.of((update) => {
          if (update.docChanged) {
            changed.current?.(update.state.doc.toString());
          }
        }),
      ],
    });
    view.current = editor;
    return () => {
      editor.destroy();
    };
  }, [label, readOnly, plain]);

  useEffect(() => {
    const editor = view.current;
    if (editor && editor.state.doc.toString() !== value) {
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
    }
  }, [value, label, readOnly, plain]);

  return <div ref={host} style={{ height, border: '1px solid var(--pf-t--global--border--color--default)' }} />;
}
