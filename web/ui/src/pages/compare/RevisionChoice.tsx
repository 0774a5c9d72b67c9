import { FormSelect, FormSelectOption } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import type { HistoryItem } from '../../api/release';
import { useStatusWord } from '../../app/useStatusWord';

interface RevisionChoiceProps {
  label: string;
  revisions: readonly HistoryItem[];
  value?: number;
  onChoose: (revision: number) => void;
}

/** Selects a revision of a release, including those no longer in the cluster. */
export function RevisionChoice({ label, revisions, value, onChoose }: RevisionChoiceProps) {
  const { t } = useTranslation('compare');
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
      {revisions.map(({ revision, status, chartVersion, gone, erased }) => (
        <FormSelectOption
          key={revision}
          value={revision}
          isDisabled={erased}
          label={`${label}: ${revision} (${[word(status), chartVersion, erased ? t('erased') : gone && t('gone')].filter(Boolean).join(', ')})`}
        />
      ))}
    </FormSelect>
  );
}
