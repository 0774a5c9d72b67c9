import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import type { FieldChange } from '../api/drift';
import { asText } from './values';

interface FieldChangesProps {
  changes: readonly FieldChange[];
  label: string;
  /** Which values are compared: record and cluster, or after and before an operation. */
  as: 'drift' | 'preview';
}

/** A table of an object's changed fields and the managers that set them. */
export function FieldChanges({ changes, label, as }: FieldChangesProps) {
  const { t } = useTranslation('drift');
  const columns = as === 'drift' ? (['recorded', 'live'] as const) : (['live', 'recorded'] as const);
  return (
    <Table variant="compact" aria-label={label}>
      <Thead>
        <Tr>
          <Th width={30}>{t('field')}</Th>
          {columns.map((column) => (
            <Th key={column} width={25}>{t(`${as}.${column}`)}</Th>
          ))}
          <Th width={20}>{t('manager')}</Th>
        </Tr>
      </Thead>
      <Tbody>
        {changes.map((change) => (
          <Tr key={change.path}>
            <Td dataLabel={t('field')} modifier="breakWord">
              {change.path}
            </Td>
            {columns.map((column) => (
              <Td key={column} dataLabel={t(`${as}.${column}`)} modifier="breakWord">
                {change[column] === null ? '–' : asText(change[column])}
              </Td>
            ))}
            <Td dataLabel={t('manager')} modifier="breakWord">
              {change.manager ?? '–'}
            </Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}
