import { FormSelect, FormSelectOption } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import type { Lineage } from '../../api/release';

interface LineageChoiceProps {
  label: string;
  lineages: readonly Lineage[];
  /** The label of the choice of all lineages, if offered. */
  all?: string;
  /** The id of the selected lineage; undefined for all, or for the current one. */
  value?: string;
  onChoose: (lineage: string | undefined) => void;
}

/** Selects a lineage of a release's name. Renders nothing for a single lineage. */
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
