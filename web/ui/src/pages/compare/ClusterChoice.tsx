import { FormSelect, FormSelectOption } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { useClusters } from '../../api/releases';

/** Selects the cluster to compare with. */
export function ClusterChoice({ cluster, onChoose }: { cluster: string; onChoose: (cluster: string) => void }) {
  const { t } = useTranslation('compare');
  const { data = [] } = useClusters();
  const ids = data.map(({ id }) => id);
  return (
    <FormSelect
      aria-label={t('cluster')}
      value={cluster}
      onChange={(_, chosen) => {
        onChoose(chosen);
      }}
    >
      {(ids.includes(cluster) ? ids : [cluster, ...ids]).map((id) => (
        <FormSelectOption key={id} value={id} label={id} />
      ))}
    </FormSelect>
  );
}
