import { autocompletion } from '@codemirror/autocomplete';
import { forceLinting, linter, lintGutter, type Diagnostic } from '@codemirror/lint';
import { Annotation, EditorState } from '@codemirror/state';
import { yaml } from '@codemirror/lang-yaml';
import { FormHelperText, HelperText, HelperTextItem } from '@patternfly/react-core';
import { basicSetup, EditorView } from 'codemirror';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { assist } from './assist';
import { problemsOf } from './check';
import { Guide, type ChartValues } from './guide';
import { look } from './look';
import { useProblemText } from './useProblemText';

export interface YamlEditorProps {
  /** The accessible name. */
  label: string;
  /** The initial text. A change from outside replaces the text. */
  value: string;
  /** Called with the whole text after each edit. Without it the editor is read-only. */
  onChange?: (value: string) => void;
  /** `auto` fits the text, up to a maximum. */
  height?: string;
  /** The text is not YAML. */
  plain?: boolean;
  /** The chart of the values. Its keys and values are suggested, and violations of its schema are marked. */
  chart?: ChartValues;
}

/** Marks a change that came from outside and is not reported back. */
const given = Annotation.define<boolean>();

/** The delay between the last edit and the validation. */
const CHECK_MS = 300;

/**
 * Replaces the selection when typing. The browser itself would copy the style of
 * the replaced text into an inline style, which the Content Security Policy forbids.
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
 * A viewer or editor for YAML of any length. It is in a shadow root, where its
 * styles need no style element, which the Content Security Policy forbids.
 */
export default function YamlEditor({ label, value, onChange, height = '24rem', plain = false, chart }: YamlEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const changed = useRef(onChange);
  const guide = useRef<Guide>(null);
  // Texts that were reported and have not come back as `value` yet. They are older than the editor's text.
  const told = useRef<string[]>([]);
  const [problems, setProblems] = useState<Diagnostic[] | null>(null);
  const problemText = useProblemText();
  const words = useRef(problemText);
  const readOnly = onChange === undefined;

  useEffect(() => {
    changed.current = onChange;
    words.current = problemText;
  }, [onChange, problemText]);

  useEffect(() => {
    const { current } = host;
    if (!current) {
      return;
    }
    const root = current.shadowRoot ?? current.attachShadow({ mode: 'open' });
    const check = linter(
      ({ state }): Diagnostic[] => {
        const found = problemsOf(state.doc.toString(), guide.current).map((problem): Diagnostic => {
          const from = Math.min(problem.from, state.doc.length);
          return { from, to: Math.max(from, Math.min(problem.to, state.doc.length)), severity: 'error', message: words.current(problem) };
        });
        setProblems(found);
        return found;
      },
      { delay: CHECK_MS },
    );
    const editor = new EditorView({
      parent: root,
      root,
      extensions: [
        basicSetup,
        plain ? [] : yaml(),
        look,
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        readOnly ? [EditorState.readOnly.of(true), EditorView.lineWrapping] : [autocompletion({ icons: false }), assist(() => guide.current), check, lintGutter(), replacing],
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !update.transactions.some((transaction) => transaction.annotation(given))) {
            const text = update.state.doc.toString();
            told.current.push(text);
            changed.current?.(text);
          }
        }),
      ],
    });
    view.current = editor;
    return () => {
      editor.destroy();
      told.current = [];
    };
  }, [label, readOnly, plain]);

  useEffect(() => {
    const editor = view.current;
    const echo = told.current.lastIndexOf(value);
    if (echo >= 0) {
      told.current.splice(0, echo + 1);
    } else if (editor && editor.state.doc.toString() !== value) {
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value }, annotations: given.of(true) });
    }
  }, [value, label, readOnly, plain]);

  useEffect(() => {
    guide.current = chart ? new Guide(chart) : null;
    if (view.current && !readOnly) {
      forceLinting(view.current);
    }
  }, [chart, label, readOnly, plain]);

  return (
    <>
      <div ref={host} style={{ height, maxHeight: height === 'auto' ? '32rem' : undefined, border: '1px solid var(--pf-t--global--border--color--default)' }} />
      {!readOnly && <Problems found={problems} text={value} />}
    </>
  );
}

/** One line about the problems. It is always present, so that the layout does not jump. */
function Problems({ found, text }: { found: Diagnostic[] | null; text: string }) {
  const { t } = useTranslation('editor');
  const [first, ...others] = found ?? [];
  const line = text.slice(0, first?.from ?? 0).split('\n').length;
  return (
    <FormHelperText>
      <HelperText isLiveRegion>
        {first ? (
          <HelperTextItem variant="error">
            {t('problem', { line, message: first.message })}
            {others.length > 0 && ` ${t('more', { count: others.length })}`}
          </HelperTextItem>
        ) : (
          <HelperTextItem>{t(found && text.trim() !== '' ? 'sound' : 'help')}</HelperTextItem>
        )}
      </HelperText>
    </FormHelperText>
  );
}
