import { Content, ExpandableSection, Stack, StackItem, Title } from '@patternfly/react-core';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import type { Diff } from '../api/release';
import { FoldTitle } from '../app/FoldTitle';
import { ChangeLabel } from './ChangeLabel';
import { TextDiff, type DiffLayout } from './TextDiff';
import { ValueChanges } from './ValueChanges';

type ObjectChange = Schemas['ObjectChange'];

/** How many characters of the objects' differences are expanded at first. The rest is folded. */
const OPEN_SIZE = 40_000;

/** Shows the difference of two revisions part by part, without unchanged parts. */
export function DiffView({ diff, layout }: { diff: Diff; layout: DiffLayout }) {
  const { t } = useTranslation('compare');
  if (diff.identical) {
    return <Content component="p">{diff.from ? t('identical') : t('onlyOne', { revision: diff.to.revision })}</Content>;
  }
  const parts: Record<string, ReactNode> = {
    values: diff.values.length > 0 && <ValueChanges changes={diff.values} label={t('parts.values')} />,
    manifest: diff.manifest.length > 0 && <Objects changes={diff.manifest} layout={layout} />,
    hooks: diff.hooks.length > 0 && <Objects changes={diff.hooks} layout={layout} />,
    notes: diff.notes !== '' && <TextDiff diff={diff.notes} layout={layout} label={t('parts.notes')} />,
    chart: diff.chart.length > 0 && <ValueChanges changes={diff.chart} label={t('parts.chart')} />,
  };
  return (
    <Stack hasGutter>
      {(['values', 'manifest', 'hooks', 'notes', 'chart'] as const).map(
        (part) =>
          parts[part] && (
            <StackItem key={part}>
              <Title headingLevel="h2" size="lg">
                {t(`parts.${part}`)}
              </Title>
              {parts[part]}
            </StackItem>
          ),
      )}
    </Stack>
  );
}

function Objects({ changes, layout }: { changes: readonly ObjectChange[]; layout: DiffLayout }) {
  const open = new Set<ObjectChange>();
  let size = 0;
  for (const change of changes) {
    if (size > OPEN_SIZE) {
      break;
    }
    open.add(change);
    size += change.diff.length;
  }
  return changes.map((change) => (
    <ObjectDiff
      key={`${change.apiVersion}/${change.kind}/${change.namespace}/${change.name}`}
      object={change}
      layout={layout}
      open={open.has(change)}
    />
  ));
}

/** The diff of an object, rendered when it is expanded. */
function ObjectDiff({ object: { kind, namespace, name, change, diff }, layout, open }: { object: ObjectChange; layout: DiffLayout; open: boolean }) {
  const [expanded, setExpanded] = useState(open);
  const title = [kind, namespace && `${namespace}/`, name].filter(Boolean).join(' ').replace('/ ', '/');
  return (
    <ExpandableSection
      isExpanded={expanded}
      onToggle={(_, next) => {
        setExpanded(next);
      }}
      toggleContent={
        <FoldTitle name={title}>
          <ChangeLabel change={change} />
        </FoldTitle>
      }
    >
      {expanded && <TextDiff diff={diff} layout={layout} label={title} />}
    </ExpandableSection>
  );
}
