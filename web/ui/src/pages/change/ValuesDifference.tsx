import { Content, Stack, StackItem, ToggleGroup, ToggleGroupItem } from '@patternfly/react-core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ValueChanges } from '../../diff/ValueChanges';
import { valueChanges } from '../../diff/values';
import { overlay } from '../../editor/overlay';
import { readYaml } from '../../editor/readYaml';

interface ValuesDifferenceProps {
  /** The edited values. */
  values: string;
  /** The values before editing. */
  before: { revision: number; values: string };
  /** The chart's default values, if known. */
  defaults?: string;
}

/** Compares the edited values with those before editing or with the chart's defaults. */
export function ValuesDifference({ values, before, defaults }: ValuesDifferenceProps) {
  const { t } = useTranslation('change');
  const [chosen, choose] = useState<'revision' | 'defaults'>('revision');
  const against = defaults === undefined ? 'revision' : chosen;
  const changes = useMemo(() => {
    const written = read(values);
    const from = read(against === 'revision' ? before.values : (defaults ?? ''));
    if (written === undefined || from === undefined) {
      return null;
    }
    return valueChanges(from, against === 'revision' ? written : overlay(from, written));
  }, [values, before.values, defaults, against]);
  return (
    <Stack hasGutter>
      <StackItem>
        <ToggleGroup isCompact aria-label={t('difference.label')}>
          {(['revision', 'defaults'] as const).map((each) => (
            <ToggleGroupItem
              key={each}
              buttonId={`difference-${each}`}
              text={t(`difference.${each}`, { revision: before.revision })}
              isSelected={against === each}
              isDisabled={each === 'defaults' && defaults === undefined}
              onChange={() => {
                choose(each);
              }}
            />
          ))}
        </ToggleGroup>
      </StackItem>
      <StackItem>
        {changes === null && <Content component="small">{t('difference.unreadable')}</Content>}
        {changes?.length === 0 && <Content component="small">{t('difference.none')}</Content>}
        {changes && changes.length > 0 && <ValueChanges changes={changes} label={t('difference.label')} />}
      </StackItem>
    </Stack>
  );
}

/** Returns undefined for invalid YAML, and an empty mapping for no values. */
function read(text: string): unknown {
  const document = readYaml(text);
  return document.errors.length > 0 ? undefined : (document.toJS({ maxAliasCount: 1000 }) ?? {});
}
