import { Alert, AlertActionLink, Flex, FlexItem, Grid, GridItem, PageSection, Stack, StackItem, Title } from '@patternfly/react-core';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useParams, useSearchParams } from 'react-router';
import { ButtonLink } from '../../app/ButtonLink';
import { paths, type ReleaseRef } from '../../app/paths';
import { Problem } from '../../app/Problem';
import { ReleaseTrail } from '../../app/ReleaseTrail';
import { useTabIcon, type TabState } from '../../app/useTabIcon';
import { Causes } from '../../resources/Causes';
import { ResourcesSection } from '../../resources/ResourcesSection';
import type { SessionView } from '../../session/SessionFollower';
import { useSession } from '../../session/useSession';
import { CancelButton } from './CancelButton';
import { Facts } from './Facts';
import { LogPanel } from './LogPanel';
import { NoSession } from './NoSession';
import { Outcome } from './Outcome';
import { ProgressSection } from './ProgressSection';
import { sessionStatus, StatusTag, type SessionStatus } from './StatusTag';
import { Timeline } from './Timeline';

/** Shows an operation live, from its start to its end. */
export function EventsPage() {
  const { cluster = '', namespace = '', name = '' } = useParams();
  const [search, setSearch] = useSearchParams();
  const asked = search.get('sessionId');
  const { view, retry } = useSession({ cluster, namespace, name, sessionId: asked });
  const { sessionId } = view.session;

  // The id of the running session is put into the URL, so that a reload shows the same session even after its end.
  useEffect(() => {
    if (!asked && sessionId) {
      setSearch({ sessionId }, { replace: true });
    }
  }, [asked, sessionId, setSearch]);

  return <SessionPage key={sessionId} release={{ cluster, namespace, name }} view={view} onRetry={retry} />;
}

const tabStates: Record<SessionStatus, TabState | null> = {
  connecting: 'running',
  connected: 'running',
  completed: 'succeeded',
  failed: 'failed',
  lost: 'failed',
  canceled: 'ended',
  none: null,
};

function SessionPage({ release, view, onRetry }: { release: ReleaseRef; view: SessionView; onRetry: () => void }) {
  const { t } = useTranslation(['events', 'common', 'resources']);
  const { name } = release;
  const { session, refused } = view;
  const status = sessionStatus(view);
  const disagrees = session.end?.agrees === false;
  useTabIcon(status === 'completed' && disagrees ? 'warning' : tabStates[status]);
  const heading = t(`heading.${session.started?.operation ?? 'unknown'}`, { name });
  const title = <title>{`${t('common:colon', { before: t(`status.${status}`), after: heading })} – helmtrail`}</title>;

  if (refused && (refused.code === 'no_active_session' || refused.code === 'not_found')) {
    return (
      <>
        {title}
        <NoSession release={release} />
      </>
    );
  }
  if (refused) {
    return (
      <>
        {title}
        <Problem
          error={refused}
          onRetry={() => {
            window.location.reload();
          }}
        >
          <ButtonLink variant="link" to={paths.releases(release.cluster)}>
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
            <ReleaseTrail release={release} here={heading} />
          </StackItem>
          <StackItem>
            <Flex alignItems={{ default: 'alignItemsCenter' }}>
              <Title headingLevel="h1">{heading}</Title>
              <StatusTag status={status} disagrees={disagrees} />
              <FlexItem align={{ default: 'alignRight' }}>
                <CancelButton release={release} session={session} />
                {session.end && (
                  <Flex gap={{ default: 'gapSm' }}>
                    <ButtonLink variant="primary" to={paths.release(release)}>
                      {t('viewRelease')}
                    </ButtonLink>
                    <ButtonLink variant="secondary" to={paths.releases(release.cluster)}>
                      {t('common:backToReleases')}
                    </ButtonLink>
                  </Flex>
                )}
              </FlexItem>
            </Flex>
          </StackItem>
          <StackItem>
            <Facts release={release} session={session} />
          </StackItem>
          {status === 'lost' && (
            <StackItem>
              <Alert
                isInline
                variant="danger"
                title={t('lost.title')}
                actionLinks={<AlertActionLink onClick={onRetry}>{t('common:retry')}</AlertActionLink>}
              >
                {t('lost.body')}
              </Alert>
            </StackItem>
          )}
          {session.started?.origin === 'outside' && (
            <StackItem>
              <Alert isInline variant="info" title={t('outside.title')}>
                {t('outside.body')}
              </Alert>
            </StackItem>
          )}
          {!session.end && session.summary && (
            <StackItem>
              <Causes causes={session.summary.causes} />
            </StackItem>
          )}
          {session.end && (
            <StackItem>
              <Outcome end={session.end} operation={session.started?.operation ?? 'install'} name={name} />
            </StackItem>
          )}
        </Stack>
      </PageSection>
      <PageSection isFilled>
        <Stack hasGutter>
          <StackItem>
            <ProgressSection session={session} />
          </StackItem>
          <StackItem>
            <Grid hasGutter>
              <GridItem lg={8}>
                <ResourcesSection
                  resources={session.resources}
                  summary={session.summary}
                  namespace={release.namespace}
                  empty={t(session.end ? 'resources:noneAtEnd' : 'resources:none')}
                />
              </GridItem>
              <GridItem lg={4}>
                <Timeline milestones={session.milestones} ended={session.end !== null} />
              </GridItem>
            </Grid>
          </StackItem>
          <StackItem>
            <LogPanel of={{ ...release, sessionId: session.sessionId || null }} session={session} />
          </StackItem>
        </Stack>
      </PageSection>
    </>
  );
}
