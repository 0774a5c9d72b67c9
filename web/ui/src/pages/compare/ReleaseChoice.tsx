import { FormSelect, FormSelectOption } from '@patternfly/react-core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { answer, api } from '../../api/client';
import type { ReleaseRef } from '../../app/paths';

interface ReleaseChoiceProps {
  release: ReleaseRef;
  onChoose: (release: { namespace: string; name: string }) => void;
}

/** Chooses the release of a cluster whose revision is compared. */
export function ReleaseChoice({ release: { cluster, namespace, name }, onChoose }: ReleaseChoiceProps) {
  const { t } = useTranslation('compare');
  const { data } = useQuery({
    queryKey: ['releases', cluster, 'choice'],
    queryFn: () => answer(api.GET('/{cluster}/releases', { params: { path: { cluster }, query: { limit: 5000 } } })),
  });
  const known = data?.items.some((item) => item.namespace === namespace && item.name === name);
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
      {data?.items.map((item) => (
        <FormSelectOption key={`${item.namespace}/${item.name}`} value={`${item.namespace}/${item.name}`} label={`${item.namespace}/${item.name}`} />
      ))}
    </FormSelect>
  );
}
