import { FormSelect, FormSelectOption } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import type { Lineage } from '../../api/release';

interface LineageChoiceProps {
  label: string;
  lineages: readonly Lineage[];
  /** The id of one; that of today without it. */
  value?: string;
  onChoose: (lineage: string | undefined) => void;
}

/** Chooses one of the lives that a release's name has lived. Nothing to choose when there was one only. */
export function LineageChoice({ label, lineages, value, onChoose }: LineageChoiceProps) {
  const { t, i18n } = useTranslation('compare');
  if (lineages.length < 2 && value === undefined) {
    return null;
  }
  const moment = new Intl.DateTimeFormat(i18n.language, { dateStyle: 'medium', timeStyle: 'medium' });
  const newest = lineages[0]?.id;
  return (
    <FormSelect
      aria-label={label}
      value={value ?? newest}
      onChange={(_, chosen) => {
        onChoose(chosen === newest ? undefined : chosen);
      }}
    >
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
