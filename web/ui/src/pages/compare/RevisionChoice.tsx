import { FormSelect, FormSelectOption } from '@patternfly/react-core';
import type { HistoryItem } from '../../api/release';
import { useStatusWord } from '../../app/useStatusWord';

interface RevisionChoiceProps {
  label: string;
  revisions: readonly HistoryItem[];
  value?: number;
  onChoose: (revision: number) => void;
}

/** Chooses one of a release's revisions. */
export function RevisionChoice({ label, revisions, value, onChoose }: RevisionChoiceProps) {
  const word = useStatusWord();
  return (
    <FormSelect
      aria-label={label}
      value={value ?? ''}
      onChange={(_, chosen) => {
        onChoose(Number(chosen));
      }}
    >
      {value === undefined && <FormSelectOption value="" label={label} isPlaceholder />}
      {revisions.map(({ revision, status, chartVersion }) => (
        <FormSelectOption key={revision} value={revision} label={`${label}: ${revision} (${[word(status), chartVersion].filter(Boolean).join(', ')})`} />
      ))}
    </FormSelect>
  );
}
