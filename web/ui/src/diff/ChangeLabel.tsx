import { Label } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';

type Difference = Schemas['Difference'];

const colors: Record<Difference, 'green' | 'red' | 'blue'> = { added: 'green', removed: 'red', changed: 'blue' };

/** A label: added, removed or changed. */
export function ChangeLabel({ change }: { change: Difference }) {
  const { t } = useTranslation('compare');
  return (
    <Label isCompact variant="outline" color={colors[change]}>
      {t(`changes.${change}`)}
    </Label>
  );
}
