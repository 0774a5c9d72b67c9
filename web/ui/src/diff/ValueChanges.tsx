import { Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table';
import { useTranslation } from 'react-i18next';
import { ChangeLabel } from './ChangeLabel';
import { asText, type ValueChange } from './values';

/** A table of changed values by path. */
export function ValueChanges({ changes, label }: { changes: readonly ValueChange[]; label: string }) {
  const { t } = useTranslation('compare');
  return (
    <Table variant="compact" aria-label={label}>
      <Thead>
        <Tr>
          <Th width={25}>{t('path')}</Th>
          <Th modifier="fitContent">{t('change')}</Th>
          <Th width={30}>{t('before')}</Th>
          <Th width={30}>{t('after')}</Th>
        </Tr>
      </Thead>
      <Tbody>
        {changes.map(({ path, change, from, to }) => (
          <Tr key={path}>
            <Td dataLabel={t('path')} modifier="breakWord">
              {path}
            </Td>
            <Td dataLabel={t('change')}>
              <span>
                <ChangeLabel change={change} />
              </span>
            </Td>
            <Td dataLabel={t('before')} modifier="breakWord">
              {change === 'added' ? '–' : asText(from)}
            </Td>
            <Td dataLabel={t('after')} modifier="breakWord">
              {change === 'removed' ? '–' : asText(to)}
            </Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  );
}
