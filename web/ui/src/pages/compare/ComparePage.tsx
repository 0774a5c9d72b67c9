import { Alert, Checkbox, Content, PageSection, Skeleton, Stack, StackItem, Switch, Title, ToggleGroup, ToggleGroupItem, Toolbar, ToolbarContent, ToolbarItem } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { ApiError } from '../../api/client';
import { useDiff, useHistory } from '../../api/release';
import type { ReleaseRef } from '../../app/paths';
import { Refusal } from '../../app/Refusal';
import { ReleaseTrail } from '../../app/ReleaseTrail';
import { DiffView } from '../../diff/DiffView';
import { ReleaseChoice } from './ReleaseChoice';
import { RevisionChoice } from './RevisionChoice';
import { useSelection, type Selection } from './useSelection';

/** How two revisions differ, also of two releases. What is compared stands in the address. */
export function ComparePage() {
  const { t } = useTranslation('compare');
  const { cluster = '', namespace = '', name = '' } = useParams();
  const release = { cluster, namespace, name };
  const [selection, select] = useSelection();
  const { layout, ...query } = selection;
  const { data, error, isFetching } = useDiff(release, query);
  const title = t('title', { name });
  return (
    <>
      <title>{`${title} – helmtrail`}</title>
      <PageSection>
        <Stack hasGutter>
          <StackItem>
            <ReleaseTrail release={release} here={t('here')} />
          </StackItem>
          <StackItem>
            <Title headingLevel="h1" style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Title>
          </StackItem>
          <StackItem>
            <Choices release={release} selection={selection} from={data?.from?.revision} to={data?.to.revision} onSelect={select} />
          </StackItem>
        </Stack>
      </PageSection>
      <PageSection isFilled aria-label={title} aria-busy={isFetching}>
        {error instanceof ApiError && <Refusal error={error} />}
        {selection.reveal && !error && <Alert isInline variant="warning" title={t('revealed')} />}
        {data && !error && <DiffView diff={data} layout={layout} />}
        {!data && !error && <Skeleton height="12rem" />}
        {data && !data.identical && <Content component="small">{t('masked')}</Content>}
      </PageSection>
    </>
  );
}

interface ChoicesProps {
  release: ReleaseRef;
  selection: Selection;
  /** The revisions that are compared when none are chosen. */
  from?: number;
  to?: number;
  onSelect: (change: Partial<Selection>) => void;
}

function Choices({ release, selection, from, to, onSelect }: ChoicesProps) {
  const { t } = useTranslation('compare');
  const other = {
    cluster: release.cluster,
    namespace: selection.fromNamespace ?? release.namespace,
    name: selection.fromRelease ?? release.name,
  };
  const before = useHistory(other).data ?? [];
  const after = useHistory(release).data ?? [];
  return (
    <Toolbar isStatic>
      <ToolbarContent>
        <ToolbarItem>
          <ReleaseChoice
            release={other}
            onChoose={({ namespace, name }) => {
              const same = namespace === release.namespace && name === release.name;
              onSelect({ fromNamespace: same ? undefined : namespace, fromRelease: same ? undefined : name, from: undefined });
            }}
          />
        </ToolbarItem>
        <ToolbarItem>
          <RevisionChoice
            label={t('from')}
            revisions={before}
            value={selection.from ?? from}
            onChoose={(revision) => {
              onSelect({ from: revision });
            }}
          />
        </ToolbarItem>
        <ToolbarItem>
          <RevisionChoice
            label={t('to')}
            revisions={after}
            value={selection.to ?? to}
            onChoose={(revision) => {
              onSelect({ to: revision });
            }}
          />
        </ToolbarItem>
        <ToolbarItem>
          <ToggleGroup aria-label={t('layout.label')}>
            {(['split', 'unified'] as const).map((layout) => (
              <ToggleGroupItem
                key={layout}
                buttonId={`layout-${layout}`}
                text={t(`layout.${layout}`)}
                isSelected={selection.layout === layout}
                onChange={() => {
                  onSelect({ layout });
                }}
              />
            ))}
          </ToggleGroup>
        </ToolbarItem>
        <ToolbarItem alignSelf="center">
          <Checkbox
            id="compare-all"
            label={t('all')}
            isChecked={selection.all ?? false}
            onChange={(_, all) => {
              onSelect({ all: all || undefined });
            }}
          />
        </ToolbarItem>
        <ToolbarItem alignSelf="center">
          <Switch
            id="compare-reveal"
            label={t('reveal')}
            isChecked={selection.reveal ?? false}
            onChange={(_, reveal) => {
              onSelect({ reveal: reveal || undefined });
            }}
          />
        </ToolbarItem>
      </ToolbarContent>
    </Toolbar>
  );
}
