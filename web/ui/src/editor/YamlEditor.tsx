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
  /** What a screen reader calls it. */
  label: string;
  /** The text at first, and whenever it becomes another from outside. */
  value: string;
  /** Called with the whole text whenever it is edited; without it nothing can be. */
  onChange?: (value: string) => void;
  /** `auto` for as high as the text is, within bounds. */
  height?: string;
  /** It is text of another kind. */
  plain?: boolean;
  /** The chart whose values they are: what it says is offered, and what its schema does not take is marked. */
  chart?: ChartValues;
}

/** Marks a text that came from outside, of which outside need not be told. */
const given = Annotation.define<boolean>();

/** Errors are looked for when nothing was typed for so long. */
const CHECK_MS = 300;

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
export default function YamlEditor({ label, value, onChange, height = '24rem', plain = false, chart }: YamlEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const changed = useRef(onChange);
  const guide = useRef<Guide>(null);
  // What was told and has not come back yet. It is older than what stands in the editor.
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

/** One line on what is wrong, always there, so that nothing moves when that changes. */
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
