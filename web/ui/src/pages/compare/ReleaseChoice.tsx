import { FormSelect, FormSelectOption } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { useReleaseNames } from '../../api/releases';
import type { ReleaseRef } from '../../app/paths';

interface ReleaseChoiceProps {
  release: ReleaseRef;
  onChoose: (release: { namespace: string; name: string }) => void;
}

/** Selects the release to compare with. */
export function ReleaseChoice({ release: { cluster, namespace, name }, onChoose }: ReleaseChoiceProps) {
  const { t } = useTranslation('compare');
  const { data } = useReleaseNames(cluster);
  const known = data?.some((item) => item.namespace === namespace && item.name === name);
  return (
    <FormSelect
      aria-label={t('release')}
      value={`${namespace}/${name}`}
      onChange={(_, chosen) => {
        const slash = chosen.indexOf('/');
        onChoose({ namespace: chosen.slice(0, slash), name: chosen.slice(slash + 1) });
      }}
    >
      {!known && <FormSelectOption value={`${namespace}/${name}`} label={`${namespace}/${name}`} />}
      {data?.map((item) => (
        <FormSelectOption key={`${item.namespace}/${item.name}`} value={`${item.namespace}/${item.name}`} label={`${item.namespace}/${item.name}`} />
      ))}
    </FormSelect>
  );
}
