import { Card, CardBody, Content, Grid, GridItem, PageSection, Stack, StackItem, Title } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { useNavigate, useSearchParams } from 'react-router';
import { useMe } from '../../api/me';
import { ButtonLink } from '../../app/ButtonLink';
import { paths } from '../../app/paths';
import { Problem } from '../../app/Problem';
import { LoginForm } from './LoginForm';

/** The login page. */
export function LoginPage() {
  const { t } = useTranslation(['login', 'common']);
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const { data: me, error, refetch } = useMe();
  const to = within(search.get('to'));
  const title = <title>{`${t('title')} – helmtrail`}</title>;
  if (!me) {
    return (
      <>
        {title}
        {error && <Problem error={error} onRetry={() => void refetch()} />}
      </>
    );
  }
  return (
    <>
      {title}
      <PageSection isFilled>
        <Grid hasGutter>
          <GridItem md={8} lg={6}>
            <Stack hasGutter>
              <StackItem>
                <Title headingLevel="h1">{t('title')}</Title>
              </StackItem>
              {me.auth === 'none' ? (
                <StackItem>
                  <Content component="p">{t('notRequired')}</Content>
                  <ButtonLink variant="primary" to={to}>
                    {t('continue')}
                  </ButtonLink>
                </StackItem>
              ) : (
                <StackItem>
                  <Card>
                    <CardBody>
                      <LoginForm clusters={me.clusters} asked={search.get('cluster')} onDone={() => void navigate(to, { replace: true })} />
                    </CardBody>
                  </Card>
                </StackItem>
              )}
            </Stack>
          </GridItem>
        </Grid>
      </PageSection>
    </>
  );
}

/** Returns a path within the pages, whatever the link says. */
function within(to: string | null): string {
  return to && /^\/(?![/\\])/.test(to) ? to : paths.releases();
}
