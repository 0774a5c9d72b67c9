import { Breadcrumb, BreadcrumbItem, Flex, FlexItem, PageSection, Stack, StackItem, Title } from '@patternfly/react-core';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useParams, useSearchParams } from 'react-router';
import { ButtonLink } from '../../app/ButtonLink';
import { paths, type ReleaseRef } from '../../app/paths';
import { Problem } from '../../app/Problem';
import type { SessionView } from '../../session/SessionFollower';
import { useSession } from '../../session/useSession';
import { Facts } from './Facts';
import { LogPanel } from './LogPanel';
import { NoSession } from './NoSession';
import { Outcome } from './Outcome';
import { ProgressSection } from './ProgressSection';
import { ResourcesSection } from './ResourcesSection';
import { sessionStatus, StatusTag } from './StatusTag';

/** One operation as it happens, from its start to its end. */
export function EventsPage() {
  const { cluster = '', namespace = '', name = '' } = useParams();
  const [search, setSearch] = useSearchParams();
  const asked = search.get('sessionId');
  const view = useSession({ cluster, namespace, name, sessionId: asked });
  const { sessionId } = view.session;

  // The running session, once known, stands in the address: a reload shows the same one even when it has ended.
  useEffect(() => {
    if (!asked && sessionId) {
      setSearch({ sessionId }, { replace: true });
    }
  }, [asked, sessionId, setSearch]);

  return <SessionPage key={sessionId} release={{ cluster, namespace, name }} view={view} />;
}

/** A name of 63 letters is wider than a phone. */
const WRAP = { whiteSpace: 'normal', overflowWrap: 'anywhere' } as const;

function SessionPage({ release, view }: { release: ReleaseRef; view: SessionView }) {
  const { t } = useTranslation(['events', 'common']);
  const { name } = release;
  const { session, refused } = view;
  const status = sessionStatus(view);
  const heading = t(`heading.${session.started?.operation ?? 'unknown'}`, { name });
  const title = <title>{`${t(`status.${status}`)}: ${heading} – helmtrail`}</title>;

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
            <Breadcrumb>
              <BreadcrumbItem>
                <Link to={paths.releases(release.cluster)}>{t('common:releases')}</Link>
              </BreadcrumbItem>
              <BreadcrumbItem style={WRAP}>
                <Link to={paths.releases(release.cluster, release.namespace)}>{release.namespace}</Link>
              </BreadcrumbItem>
              <BreadcrumbItem isActive style={WRAP}>
                {name}
              </BreadcrumbItem>
            </Breadcrumb>
          </StackItem>
          <StackItem>
            <Flex alignItems={{ default: 'alignItemsCenter' }}>
              <Title headingLevel="h1">{heading}</Title>
              <StatusTag status={status} disagrees={session.end?.agrees === false} />
              {session.end && (
                <FlexItem align={{ default: 'alignRight' }}>
                  <Flex gap={{ default: 'gapSm' }}>
                    <ButtonLink variant="primary" to={paths.releases(release.cluster, release.namespace, name)}>
                      {t('viewRelease')}
                    </ButtonLink>
                    <ButtonLink variant="secondary" to={paths.releases(release.cluster)}>
                      {t('common:backToReleases')}
                    </ButtonLink>
                  </Flex>
                </FlexItem>
              )}
            </Flex>
          </StackItem>
          <StackItem>
            <Facts release={release} session={session} />
          </StackItem>
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
            <ResourcesSection
              resources={session.resources}
              summary={session.summary}
              namespace={release.namespace}
              ended={session.end !== null}
            />
          </StackItem>
          <StackItem>
            <LogPanel session={session} />
          </StackItem>
        </Stack>
      </PageSection>
    </>
  );
}
