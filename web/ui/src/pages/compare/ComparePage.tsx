import { Alert, Checkbox, Content, PageSection, Skeleton, Stack, StackItem, Title, ToggleGroup, ToggleGroupItem, Toolbar, ToolbarContent, ToolbarItem } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import { ApiError } from '../../api/client';
import { useDiff } from '../../api/release';
import { Refusal } from '../../app/Refusal';
import { ReleaseTrail } from '../../app/ReleaseTrail';
import { DiffView } from '../../diff/DiffView';
import { Choices } from './Choices';
import { RevealButton } from '../../app/RevealButton';
import { LAYOUTS, useSelection } from './useSelection';

/** Compares two revisions, also of two releases. The selection is kept in the URL. */
export function ComparePage() {
  const { t } = useTranslation('compare');
  const { cluster = '', namespace = '', name = '' } = useParams();
  const release = { cluster, namespace, name };
  const [selection, select] = useSelection();
  const { layout, ...query } = selection;
  // Secrets are revealed only for the selection for which that was confirmed.
  const asked = JSON.stringify([release, query]);
  const [revealedFor, setRevealedFor] = useState<string | null>(null);
  const reveal = revealedFor === asked;
  const { data, error, isFetching } = useDiff(release, query, { reveal });
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
          <StackItem>
            <Toolbar isStatic hasNoPadding>
              <ToolbarContent alignItems="center">
                <ToolbarItem>
                  <ToggleGroup aria-label={t('layout.label')}>
                    {LAYOUTS.map((each) => (
                      <ToggleGroupItem
                        key={each}
                        buttonId={`layout-${each}`}
                        text={t(`layout.${each}`)}
                        isSelected={layout === each}
                        onChange={() => {
                          select({ layout: each });
                        }}
                      />
                    ))}
                  </ToggleGroup>
                </ToolbarItem>
                <ToolbarItem>
                  <Checkbox
                    id="compare-all"
                    label={t('all')}
                    isChecked={query.all ?? false}
                    onChange={(_, all) => {
                      select({ all: all || undefined });
                    }}
                  />
                </ToolbarItem>
                <ToolbarItem align={{ default: 'alignEnd' }}>
                  <RevealButton
                    revealed={reveal}
                    onReveal={(chosen) => {
                      setRevealedFor(chosen ? asked : null);
                    }}
                  />
                </ToolbarItem>
              </ToolbarContent>
            </Toolbar>
          </StackItem>
        </Stack>
      </PageSection>
      <PageSection isFilled aria-label={title} aria-busy={isFetching}>
        <Stack hasGutter>
          {error instanceof ApiError && <Refusal error={error} />}
          {reveal && data && !error && <Alert isInline variant="warning" title={t('reveal.done')} />}
          {!reveal && data && !data.identical && <Content component="small">{t('masked')}</Content>}
          {data && !error && <DiffView diff={data} layout={layout} />}
          {!data && !error && <Skeleton height="12rem" />}
        </Stack>
      </PageSection>
    </>
  );
}
