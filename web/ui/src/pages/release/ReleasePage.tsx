import { DescriptionList, Flex, FlexItem, PageSection, Skeleton, Stack, StackItem, Tab, TabContentBody, Tabs, TabTitleText, Title } from '@patternfly/react-core';
import { useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams, useSearchParams } from 'react-router';
import { ApiError, isPassing } from '../../api/client';
import { useRelease, useSessions } from '../../api/release';
import type { Release } from '../../api/releases';
import { ButtonLink } from '../../app/ButtonLink';
import { Fact } from '../../app/Fact';
import { Stale } from '../../app/Stale';
import { Moment } from '../../app/Moment';
import { paths, type ReleaseRef } from '../../app/paths';
import { Problem } from '../../app/Problem';
import { ReleaseStatus } from '../../app/ReleaseStatus';
import { ReleaseTrail } from '../../app/ReleaseTrail';
import { UninstallButton } from '../../app/UninstallButton';
import { DriftTab } from './DriftTab';
import { Notes } from './Notes';
import { ResourcesNow } from './ResourcesNow';
import { Revisions } from './Revisions';
import { Sessions } from './Sessions';
import { StuckAlert } from './StuckAlert';
import { TrailTab } from './TrailTab';

/** One release: its status, resources and history. */
export function ReleasePage() {
  const { t } = useTranslation(['release', 'common']);
  const { cluster = '', namespace = '', name = '' } = useParams();
  const ref = { cluster, namespace, name };
  const { data, error, refetch } = useRelease(ref);
  const title = <title>{`${name} – helmtrail`}</title>;
  // An uninstalled release no longer exists, but its operations and trail do.
  if (error instanceof ApiError && error.code === 'not_found') {
    return (
      <>
        {title}
        <PageSection>
          <ReleaseTrail release={ref} />
        </PageSection>
        <Problem error={error} isFilled={false}>
          <ButtonLink variant="primary" to={paths.releases(cluster)}>
            {t('common:backToReleases')}
          </ButtonLink>
        </Problem>
        <Past release={ref} wasThere={error.details.trail !== undefined} />
      </>
    );
  }
  if (error && (!data || !isPassing(error))) {
    return (
      <>
        {title}
        <Problem error={error} onRetry={() => void refetch()}>
          <ButtonLink variant="link" to={paths.releases(cluster)}>
            {t('common:backToReleases')}
          </ButtonLink>
        </Problem>
      </>
    );
  }
  return (
    <>
      {title}
      <PageSection>
        <Stack hasGutter>
          <StackItem>
            <ReleaseTrail release={ref} />
          </StackItem>
          <StackItem>
            <Flex alignItems={{ default: 'alignItemsCenter' }}>
              <Title headingLevel="h1" style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Title>
              {data && <ReleaseStatus status={data.status} />}
              <FlexItem align={{ default: 'alignRight' }}>
                <Actions release={ref} session={data?.session ?? null} />
              </FlexItem>
            </Flex>
          </StackItem>
          {error && (
            <StackItem>
              <Stale error={error} />
            </StackItem>
          )}
          {data?.stuck && (
            <StackItem>
              <StuckAlert release={ref} stuck={data.stuck} status={data.status} />
            </StackItem>
          )}
          <StackItem>{data ? <Facts release={data} /> : <Skeleton height="4rem" />}</StackItem>
        </Stack>
      </PageSection>
      <PageSection isFilled aria-label={t('tabs.label', { name })}>
        {data && <Parts release={data} />}
      </PageSection>
    </>
  );
}

/** The operations of a release that does not exist and, if it ever existed, its trail. */
function Past({ release, wasThere }: { release: ReleaseRef; wasThere: boolean }) {
  const { t } = useTranslation('release');
  const { data: sessions } = useSessions(release);
  return (
    <PageSection isFilled>
      <Stack hasGutter>
        {sessions && sessions.length > 0 && (
          <>
            <Title headingLevel="h2">{t('tabs.sessions')}</Title>
            <Sessions release={release} />
          </>
        )}
        {wasThere && (
          <>
            <Title headingLevel="h2">{t('tabs.trail')}</Title>
            <TrailTab release={release} />
          </>
        )}
      </Stack>
    </PageSection>
  );
}

function Actions({ release, session }: { release: ReleaseRef; session: string | null }) {
  const { t } = useTranslation('release');
  return (
    <Flex gap={{ default: 'gapSm' }}>
      {session && (
        <ButtonLink variant="primary" to={paths.events(release, session)}>
          {t('actions.watch')}
        </ButtonLink>
      )}
      <ButtonLink variant={session ? 'secondary' : 'primary'} to={paths.change(release)}>
        {t('actions.change')}
      </ButtonLink>
      <UninstallButton release={release} variant="secondary" />
    </Flex>
  );
}

function Facts({ release }: { release: Release }) {
  const { t } = useTranslation('release');
  return (
    <DescriptionList isCompact columnModifier={{ default: '1Col', sm: '2Col', lg: '3Col' }} isHorizontal isFluid>
      <Fact term={t('facts.cluster')}>{release.cluster}</Fact>
      <Fact term={t('facts.namespace')}>{release.namespace}</Fact>
      <Fact term={t('facts.revision')}>{release.revision}</Fact>
      <Fact term={t('facts.chart')}>{[release.chart, release.chartVersion].filter(Boolean).join(' ')}</Fact>
      <Fact term={t('facts.appVersion')}>{release.appVersion || '–'}</Fact>
      <Fact term={t('facts.updated')}>
        <Moment time={release.updated} />
      </Fact>
      {(release.problem ?? release.description) && <Fact term={t('facts.description')}>{release.problem ?? release.description}</Fact>}
    </DescriptionList>
  );
}

const TABS = ['resources', 'revisions', 'sessions', 'notes', 'trail', 'drift'] as const;

/** The tabs. The current one is kept in the URL. */
function Parts({ release }: { release: Release }) {
  const { t } = useTranslation('release');
  const [search, setSearch] = useSearchParams();
  const parts = useRef<HTMLDivElement>(null);
  const current = TABS.find((tab) => tab === search.get('tab')) ?? 'resources';
  const content: Record<(typeof TABS)[number], ReactNode> = {
    resources: <ResourcesNow release={release} />,
    revisions: <Revisions release={release} />,
    sessions: <Sessions release={release} />,
    notes: <Notes release={release} />,
    trail: <TrailTab release={release} known={`${release.revision} ${release.status}`} />,
    drift: <DriftTab release={release} />,
  };
  // A narrow window does not have room for all tabs.
  useEffect(() => {
    parts.current?.querySelector('[role="tab"][aria-selected="true"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  return (
    <div ref={parts}>
      <Tabs
        activeKey={current}
        mountOnEnter
        unmountOnExit
        aria-label={t('tabs.label', { name: release.name })}
        onSelect={(_, tab) => {
          setSearch({ tab: String(tab) }, { replace: true });
        }}
      >
        {TABS.map((tab) => (
          <Tab key={tab} eventKey={tab} title={<TabTitleText>{t(`tabs.${tab}`)}</TabTitleText>}>
            <TabContentBody hasPadding>{content[tab]}</TabContentBody>
          </Tab>
        ))}
      </Tabs>
    </div>
  );
}
