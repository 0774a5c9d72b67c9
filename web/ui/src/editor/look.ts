import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { tags } from '@lezer/highlight';
import { EditorView } from 'codemirror';

/** PatternFly's tokens apply inside the shadow root, so the editor follows the page's theme. */
const theme = EditorView.theme({
  '&': {
    height: '100%',
    maxHeight: 'inherit',
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
    border: '1px solid var(--pf-t--global--border--color--default)',
  },
  '.cm-tooltip': { maxWidth: '32rem' },
  '.cm-described, .cm-completionInfo': { padding: 'var(--pf-t--global--spacer--xs) var(--pf-t--global--spacer--sm)', whiteSpace: 'pre-wrap' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--pf-t--global--font--family--mono)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--pf-t--global--background--color--action--plain--clicked)',
    color: 'var(--pf-t--global--text--color--regular)',
  },
  '.cm-completionDetail': { color: 'var(--pf-t--global--text--color--subtle)', fontStyle: 'normal' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: 'bold' },
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

/** The editor's theme and syntax colours. */
export const look: Extension = [theme, colors];
