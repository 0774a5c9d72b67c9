import { FormSelect, FormSelectOption } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import type { Lineage } from '../../api/release';

interface LineageChoiceProps {
  label: string;
  lineages: readonly Lineage[];
  /** What to call all of them, where that is a choice. */
  all?: string;
  /** The id of one; without it all, or that of today. */
  value?: string;
  onChoose: (lineage: string | undefined) => void;
}

/** Chooses one of the lives that a release's name has lived. Nothing to choose when there was one only. */
export function LineageChoice({ label, lineages, all, value, onChoose }: LineageChoiceProps) {
  const { t, i18n } = useTranslation('compare');
  if (lineages.length < 2 && value === undefined) {
    return null;
  }
  const moment = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'medium', timeStyle: 'medium' });
  const usual = all === undefined ? lineages[0]?.id : '';
  return (
    <FormSelect
      aria-label={label}
      value={value ?? usual}
      onChange={(_, chosen) => {
        onChoose(chosen === usual ? undefined : chosen);
      }}
    >
      {all !== undefined && <FormSelectOption value="" label={all} />}
      {lineages.map(({ id, firstDeployed, lastSeen, inCluster }) => (
        <FormSelectOption
          key={id}
          value={id}
          label={t(inCluster ? 'lineage.alive' : 'lineage.ended', {
            since: firstDeployed ? moment.format(Date.parse(firstDeployed)) : '?',
            until: moment.format(Date.parse(lastSeen)),
          })}
        />
      ))}
    </FormSelect>
  );
}
